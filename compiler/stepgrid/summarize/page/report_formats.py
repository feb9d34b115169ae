"""A report as it is printed: whole, or one of its tables; as text, Markdown, CSV, TSV, HTML or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from stepgrid.language.problems import nearest
from stepgrid.model.table import Table
from stepgrid.summarize import claims, formats
from stepgrid.summarize.causes import why_table
from stepgrid.summarize.comparisons.comparison_table import comparison_table, ratio_table
from stepgrid.summarize.formats import FORMATS, escape_markdown
from stepgrid.summarize.page import absolute_figures, summary_text
from stepgrid.summarize.page.html import page
from stepgrid.summarize.report import Report


class NoTable(Exception):
    """There is none of that title."""


def whole(report: Report, form: str, where: Path | None) -> str:
    if form == "text":
        return summary_text.text(report, where)
    return page(report, alone=True) if form == "html" else _joined(_parts(report, form), form)


def table(report: Report, form: str, title: str) -> str:
    """All of that title, or the one of that whole name."""
    every = [*tables(report), ratio_table(report.comparisons.all)]
    found = [each for each in every if title in (each.title, each.name)]
    if not found:
        raise NoTable(f"there is no table `{title}`: {nearest(title, {each.title for each in every})}")
    return _joined(map(FORMATS[form], found), form)


def _joined(parts: Iterable[str], form: str) -> str:
    return formats.join_json(parts) if form == "json" else "\n".join(parts)


def _parts(report: Report, form: str) -> Iterator[str]:
    """What is incomplete is said where there is room for words."""
    if form == "markdown":
        yield f"# {escape_markdown(report.setup.title)}\n"
        yield from (f"**{escape_markdown(line)}**\n" for line in summary_text.incomplete(report))
        yield from _head(report)
    shown = [each for each in tables(report) if form != "markdown" or each.title != "claims"]
    if form in ("csv", "tsv") and report.comparisons.all:
        shown.append(ratio_table(report.comparisons.all))
    yield from map(FORMATS[form], shown)


def _head(report: Report) -> Iterator[str]:
    """Begin as the text does, so that what is pasted has its caveats."""
    for name, lines in summary_text.head_entries(report):
        if lines:
            items = "\n".join(f"{'  ' if line.startswith(' ') else ''}- {escape_markdown(line)}" for line in lines)
            yield f"## {name.capitalize()}\n\n{items}\n"


def tables(report: Report) -> Iterator[Table]:
    """In the order of the text; then what is too long for it."""
    if report.comparisons.claims:
        yield claims.table(report.comparisons.claims)
    for found in report.comparisons.all:
        tables = (comparison_table(found), why_table(found, report.setup, report.data.details))
        yield from (each for each in tables if each)
    yield from (each.table for each in report.comparisons.ladders)
    if report.tables.are_chosen:
        yield from report.tables.made
    yield from (absolute_figures.table(report, section) for section in report.comparisons.sections)
    if not report.tables.are_chosen:
        yield from report.tables.made
    yield from (table for each in report.tables.long for table in each.make())
