"""A report as it is printed: whole, or one of its tables; as text, CSV or TSV, or in a form of a package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from stepgrid.language.problems import nearest
from stepgrid.model.table import Table
from stepgrid.plugins.registry import FORMS
from stepgrid.summarize import absolute_figures, claims, formats, summary_text
from stepgrid.summarize.comparisons.comparison import (
    comparison_table,
    pooled_table,
    ratio_table,
)
from stepgrid.summarize.formats import FORMATS
from stepgrid.summarize.gate import NO_GATE, Gate
from stepgrid.summarize.report import Report


class FormOptions(NamedTuple):
    gate: Gate = NO_GATE
    alone: bool = True  # no other files of the report lie beside it


ALONE = FormOptions()


class ReportForm(Protocol):
    """A form that a package brings: `--format NAME` writes it."""

    def __call__(self, report: Report, options: FormOptions, /) -> str:
        """Write the whole report; NoForm where it has nothing that this form could show."""


class PictureForm(Protocol):
    """A chart as a file, whose ending is the name of the entry point."""

    def __call__(self, report: Report, chart: str, /) -> bytes:
        """Draw the chart of that name or title, the first one as `main`; NoForm where it cannot."""


class NoForm(Exception):
    """A report lacks what a form shows, or this host what draws it."""


class NoTable(Exception):
    """No table has that title."""


def report_text(report: Report, form: str, page_path: Path | None = None, gate: Gate = NO_GATE) -> str:
    match form:
        case "text":
            return summary_text.text(report, page_path)
        case _ if form not in ("csv", "tsv"):
            content: str = FORMS.get(form)(report, FormOptions(gate))
            return content
    checkable = [ratio_table(report.comparisons.all)] if report.comparisons.all else []
    return _joined(map(FORMATS[form], (*tables(report), *checkable)), form)


def table(report: Report, form: str, title: str) -> str:
    """Write all tables of that title, or the one of that whole name."""
    all_tables = [*tables(report), ratio_table(report.comparisons.all)]
    chosen = [table for table in all_tables if title in (table.title, table.name)]
    if not chosen:
        raise NoTable(f"there is no table `{title}`: {nearest(title, {table.title for table in all_tables})}")
    return _joined(map(FORMATS[form], chosen), form)


def tables(report: Report) -> Iterator[Table]:
    """Yield tables in the order of the text, then those that are too long for it."""
    for comparison in report.comparisons.all:
        causes = report.explanation.table(report, comparison)
        yield from filter(None, (comparison_table(comparison), pooled_table(comparison), causes))
    yield from (table for answer in report.grid_answers for table in answer.tables)
    yield from (ladder.table for ladder in report.comparisons.ladders)
    if report.comparisons.claims:
        yield claims.table(report.comparisons.claims)
    if report.tables.are_chosen:
        yield from report.tables.prepared
    yield from (absolute_figures.table(report, section) for section in absolute_figures.sections(report))
    if not report.tables.are_chosen:
        yield from report.tables.prepared
    yield from (table for long in report.tables.long for table in long.tables)


def _joined(parts: Iterable[str], form: str) -> str:
    return formats.join_json(parts) if form == "json" else "\n".join(parts)
