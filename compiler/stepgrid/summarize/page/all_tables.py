"""All that a report tabulates, as tables of one kind, whatever they are written as."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.model.table import Table
from stepgrid.summarize.claims import claim_text
from stepgrid.summarize.page import absolute_figures
from stepgrid.summarize.report import Report


def tables(report: Report) -> Iterator[Table]:
    """In the order of the text; then what is too long for it."""
    if report.claims:
        yield claim_text.table(report.claims)
    yield from (found.table for found in report.overviews)
    if report.asked:
        yield from report.tables
    yield from (absolute_figures.table(report, section) for section in report.sections)
    if not report.asked:
        yield from report.tables
    yield from (table for each in report.long for table in each.make())
