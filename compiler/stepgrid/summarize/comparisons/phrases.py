"""What stands in a table's cell, and the sentences that answer the question first."""

from __future__ import annotations

from stepgrid.model import units
from stepgrid.model.table import ABSENT, SAME, Cell
from stepgrid.plugins.layout import MARK
from stepgrid.summarize.comparisons.builds import NO_VERDICT
from stepgrid.summarize.comparisons.comparison_cell import BASE, NO_BASE, RATIO, Entry
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.confidence_intervals import Interval

DOUBT = "†"  # on a ratio that more is to be known of; that stands below
SHIPPED = "‡"  # on a verdict across builds of different quality, which the spec allows
Weight = tuple[bool, float]


def entry(found: Entry, base: str) -> str:
    if found.kind == ABSENT:
        return "-"
    if found.kind == BASE and found.point:
        return median(found.point)
    if found.kind == SAME:
        return f"same as {found.same or base}"
    if found.kind == NO_BASE and found.point:
        return f"no base; {median(found.point)} QPS"
    return compared(found) if found.kind == RATIO else found.kind


def compared(found: Entry) -> str:
    """1.12 [1.08, 1.16] faster"""
    parts = [] if found.ratio is None else [_ratio(found.ratio, found.interval)]
    parts.append(MARK if found.caveat else found.verdict or "")
    parts += [*([SHIPPED] if found.as_shipped else []), *([DOUBT] if found.doubts else [])]
    if found.point and (short := fewer(found.point)):
        parts.append(short)
    return " ".join(part for part in parts if part)


def cell(found: Entry, base: str) -> Cell:
    """The text, and behind it what data are made of."""
    text, kind = entry(found, base), found.verdict or found.kind
    if found.kind == BASE and found.point:
        return Cell(text, kind, _middle(found.point))
    if found.kind != RATIO:
        return Cell(text, kind)
    bounds = (found.interval.low, found.interval.high) if found.interval else None
    return Cell(text, kind, found.ratio, bounds, NO_VERDICT if found.caveat else found.verdict or NO_VERDICT)


def _middle(point: Point) -> float | None:
    found = point.spread()
    return found[0] if found else None


def fewer(point: Point) -> str | None:
    measured, planned = point.loads
    return f"({point.losses or f'{measured} of {planned} loads'})" if measured < planned else None


def median(point: Point) -> str:
    found = point.spread()
    return units.rate(found[0]) if found else point.status


def _ratio(ratio: float, interval: Interval | None) -> str:
    return units.ratio_with_interval(ratio, interval.low, interval.high) if interval else units.ratio(ratio)
