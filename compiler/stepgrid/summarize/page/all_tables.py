"""All that a report tabulates, as tables of one kind, whatever they are written as."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.model.table import Cell, Column, Table
from stepgrid.summarize.claims import claim_text
from stepgrid.summarize.comparisons import phrases
from stepgrid.summarize.comparisons.overview import Overview, Row
from stepgrid.summarize.page import absolute_figures
from stepgrid.summarize.report import Report


def tables(report: Report) -> Iterator[Table]:
    """In the order of the text; then what is too long for it."""
    if report.claims:
        yield claim_text.table(report.claims)
    yield from map(overview, report.overviews)
    if report.asked:
        yield from report.tables
    yield from (absolute_figures.table(report, section) for section in report.sections)
    if not report.asked:
        yield from report.tables
    yield from (table for each in report.long for table in each.make())


def overview(found: Overview) -> Table:
    """Every arm against the base; the floor where the host has a history of it."""
    floors = any(map(phrases.floor, found.rows))
    labels = [Column(name, label=True) for name in ("step", *found.down)]
    heads = (f"{found.base} QPS", *(["floor"] if floors else []), *found.heads)
    return Table(
        f"QPS relative to {found.base}",
        (*labels, *(Column(head, left=True) for head in heads)),
        tuple(tuple(_cells(row, found.base, floors)) for row in found.rows),
        notes=(
            *(f"{phrases.MARK} no verdict: {caveat}" for caveat in found.caveats),
            *(f"{phrases.DOUBT} {doubt}" for doubt in phrases.doubts(found)),
        ),
    )


def _cells(row: Row, base: str, floors: bool) -> Iterator[Cell]:
    yield from map(Cell, (row.step, *(label or "-" for label in row.labels)))
    for index, each in enumerate(row.entries):
        yield Cell(phrases.entry(each, base), each.verdict or each.kind)
        if floors and not index:
            yield Cell(phrases.floor(row) or "-")
