"""How far the intervals of a table's ratios reach: all of them together, as those of any comparison of the report."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.summarize import statistics
from compiler.summarize.points import Point
from compiler.summarize.statistics import Interval

At = tuple[int, int]


def margins(pairs: Mapping[At, tuple[Point, Point]], metric: str) -> dict[At, float]:
    """The longer side; of a single load, or of a run against itself, there is none."""
    judged = {at: pair for at, pair in pairs.items() if pair[0].places != pair[1].places and _positive(pair, metric)}
    samples = [
        statistics.sample(point.values(metric), base.values(metric), base.places) for point, base in judged.values()
    ]
    found = zip(judged, statistics.intervals(samples), strict=True)
    return {at: _reach(interval) for at, interval in found if interval}


def _positive(pair: tuple[Point, Point], metric: str) -> bool:
    """Other figures have no logarithm: their ratio is of medians."""
    return all(value > 0 for point in pair for runs in point.values(metric).values() for value in runs)


def _reach(interval: Interval) -> float:
    return max(interval.high - interval.ratio, interval.ratio - interval.low)
