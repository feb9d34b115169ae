"""The charts of a step, drawn: ratios per comparison, and QPS over time per arm."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stepgrid.summarize.charts import vega
from stepgrid.summarize.charts.svg import Draw, svg
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import RATIO, Comparison
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.report import Report, Section
from stepgrid.summarize.statistics.verdicts import VERDICTS

MOST = 64  # charts over time of a page, shared by its steps; the rest stays in the tables
LEAST = 4  # of a step
MANY = 150  # ratios: more are no picture, and stay in the tables
GOLDEN = 0.618  # steps of this share of a list come near each of its parts soon
FEWEST = 3  # points of a series that are worth a line


Arm = TypeVar("Arm")


@dataclass(frozen=True, slots=True)
class Picture:
    title: str
    svg: str = field(repr=False)


def ratios(report: Report, table: Comparison, draw: Draw) -> Picture | None:
    """None when there is no ratio to draw."""
    arms = [comparison_axes.words(labels, table.layout.across) or "-" for labels in table.columns[1:]]
    rows = list(_ratios(table, arms))
    if not 0 < len(rows) <= MANY:
        return None
    lines = list(dict.fromkeys(row["line"] for row in rows))
    drawn = [arm for arm in arms if any(row["arm"] == arm for row in rows)]
    title = f"{table.step}: QPS relative to {table.base}"
    if len(drawn) == 1:
        title = f"{table.step}: QPS of {drawn[0]} relative to {table.base}"
    return Picture(title, svg(vega.ratios(rows, lines, drawn, report.effect), element_id(title), title, draw))


def _ratios(table: Comparison, arms: list[str]) -> Iterator[dict[str, Any]]:
    for line in table.lines:
        name = comparison_axes.words(line.labels, table.layout.down) or table.step
        for arm, entry in zip(arms, line.entries[1:], strict=True):
            if entry.kind == RATIO and entry.ratio:
                found = entry.interval
                ends = {"low": found.low, "high": found.high} if found else {}
                yield {"line": name, "arm": arm, "ratio": entry.ratio, "judged": entry.verdict in VERDICTS, **ends}


def over_time(report: Report, section: Section, draw: Draw) -> list[Picture]:
    """Small multiples with one scale: what differs is to be seen at a glance."""
    heard = report.series.heard
    points = {each.places: each for each in section.points}.values()
    known = [(run, heard[run.place]) for point in points for run in point.runs if run.place in heard]
    if longest(report, section) < FEWEST:
        return []
    seconds, top = max(each.last for _, each in known), max(each.top for _, each in known)
    loads = [f"{load}.{run}" for load, run in sorted({(run.load, run.run) for run, _ in known})]
    long = [point for point in points if any(heard[at].length >= FEWEST for at in point.places if at in heard)]
    drawn = spread(long, most(report))
    return [
        _over_time(section, point, vega.over_time(list(_seconds(report, point)), loads, seconds, top), draw)
        for point in drawn
    ]


def most(report: Report) -> int:
    """Charts over time of one step."""
    return max(LEAST, MOST // max(len(report.sections), 1))


def spread(arms: Sequence[Arm], count: int) -> list[Arm]:
    """So many of all, in their order: not the first ones, whose last axes alone would differ."""
    total = len(arms)
    if total <= count:
        return list(arms)
    stride = next(each for each in range(max(2, round(total * GOLDEN)), 2 * total) if math.gcd(each, total) == 1)
    return [arms[at] for at in sorted(number * stride % total for number in range(count))]


def longest(report: Report, section: Section) -> int:
    """Points of the longest series."""
    places = (place for point in section.points for place in point.places)
    return max((report.series.heard[place].length for place in places if place in report.series.heard), default=0)


def note(report: Report, section: Section) -> str | None:
    """What the driver says about the seconds' figures, such as a background writer that is in them."""
    known = report.facts.get("facts", {})
    runs = (run for point in section.points for run in point.runs)
    found = (known.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}", {}).get("qps_over_time") for run in runs)
    return next((text for text in found if text), None)


def _over_time(section: Section, point: Point, chart: vega.Chart, draw: Draw) -> Picture:
    title = comparison_axes.words(comparison_axes.key(point, section.names), section.names) or section.step
    return Picture(title, svg(chart, element_id(section.step + title), f"{section.step}, {title}: QPS over time", draw))


def _seconds(report: Report, point: Point) -> Iterator[dict[str, Any]]:
    for run in point.runs:
        for second, qps in report.series.get(run.place, ()):
            yield {"second": second, "qps": qps, "load": f"{run.load}.{run.run}"}


def element_id(text: str) -> str:
    return "c" + hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
