"""All that a report tabulates, as tables of one kind: for formats that have no page of their own."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.model.table import Cell, Column, Table
from stepgrid.summarize.claims import claim_text
from stepgrid.summarize.comparisons import phrases
from stepgrid.summarize.comparisons.overview import Overview
from stepgrid.summarize.page import absolute_figures
from stepgrid.summarize.report import Report, Section


def tables(report: Report) -> Iterator[Table]:
    """In the order of the text; then what is too long for it."""
    if report.claims:
        yield claim_text.table(report.claims)
    yield from map(_overview, report.overviews)
    if report.asked:
        yield from report.tables
    yield from (_figures(report, section) for section in report.sections)
    if not report.asked:
        yield from report.tables
    yield from (table for each in report.long for table in each.make())


def _overview(found: Overview) -> Table:
    labels = [Column(name, label=True) for name in ("step", *found.down)]
    rows = tuple(
        (
            *map(Cell, (row.step, *(label or "-" for label in row.labels))),
            *(Cell(phrases.entry(each, found.base), each.kind) for each in row.entries),
        )
        for row in found.rows
    )
    heads = (*labels, Column(f"{found.base} QPS"), *map(Column, found.heads))
    notes = tuple(f"{phrases.MARK} no verdict: {caveat}" for caveat in found.caveats)
    return Table(f"QPS relative to {found.base}", heads, rows, notes=notes)


def _figures(report: Report, section: Section) -> Table:
    found = absolute_figures.figures(report, section)
    labels = [Column(name, label=True) for name in section.names]
    rows = tuple(
        (*map(Cell, at), *(Cell(status, status.split(" ")[0]) if status else Cell(text) for text in values))
        for at, status, values in found.rows
    )
    return Table("absolute figures", (*labels, *(Column(*_head(each)) for each in found.heads)), rows, section.step)


def _head(said: tuple[str, str]) -> tuple[str, bool, str]:
    name, unit = said
    return name, False, unit
