"""Response times of a step's points: p50, p99 and p99.9 beside each other, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stepgrid.summarize.charts import drawing
from stepgrid.summarize.charts.drawing import Scale
from stepgrid.summarize.charts.step_charts import Picture
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.report import Section

PERCENTILES = (("p50_us", "p50"), ("p99_us", "p99"), ("p99_9_us", "p99.9"))
FEWEST, MOST = 2, 40  # points
WIDTH, ROW, TOP = 280, 17, 8


class Times(NamedTuple):
    name: str
    found: tuple[tuple[int, str, float], ...]  # which percentile, its name, microseconds


def picture(section: Section) -> Picture | None:
    rows = list(_rows(section))
    if not FEWEST <= len(rows) <= MOST:
        return None
    title = f"{section.step}: response times"
    left = drawing.LETTER * max(len(row.name) for row in rows) + 8
    values = [value for row in rows for _, _, value in row.found]
    across = Scale(min(values) / 1.3, max(values) * 1.3, left, left + WIDTH, True)
    foot = TOP + ROW * len(rows)
    parts = [drawing.across(across, TOP, foot, "microseconds")]
    for at, row in enumerate(rows):
        parts += _row(row, TOP + (at + 0.5) * ROW, left, across)
    parts.append(drawing.legend([name for _, name in PERCENTILES], left, foot + 3.5 * drawing.LINE))
    return Picture(title, drawing.svg(title, left + WIDTH + 8, foot + 6.5 * drawing.LINE, *parts))


def _row(row: Times, y: float, left: float, across: Scale) -> Iterator[str]:
    yield drawing.text(left - 6, y + 4, row.name, "end")
    ends = [across(value) for _, _, value in row.found]
    yield drawing.line(min(ends), y, max(ends), y, "#999", 1.5)
    for which, name, value in row.found:
        yield drawing.dot(across(value), y, drawing.colour_of(which), f"{row.name} {name}: {value:.4g} µs", 4)


def _rows(section: Section) -> Iterator[Times]:
    for point in {point.places: point for point in section.points}.values():
        known = ((at, name, point.spread(metric)) for at, (metric, name) in enumerate(PERCENTILES))
        found = tuple((at, name, spread[0]) for at, name, spread in known if spread and spread[0] > 0)
        if found:
            yield Times(comparison_axes.words(comparison_axes.key(point, section.names), section.names) or "all", found)
