"""The ratio of a figure to that of the base, as everywhere in the report: the geometric mean over the loads."""

from __future__ import annotations

from statistics import median

from stepgrid.model.number_format import quotient
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.statistics import confidence_intervals


def ratio(point: Point, base: Point, metric: str) -> float | None:
    """Of figures that have no logarithm, the ratio of the medians; 0 / 0 is 1, anything else / 0 infinite."""
    mine, theirs = point.values(metric), base.values(metric)
    if not mine or not theirs:
        return None
    if _all_positive(mine) and _all_positive(theirs):
        return confidence_intervals.ratio(confidence_intervals.sample(mine, theirs))
    return quotient(_median(mine), _median(theirs))


def _all_positive(values: dict[int, list[float]]) -> bool:
    return all(value > 0 for runs in values.values() for value in runs)


def _median(values: dict[int, list[float]]) -> float:
    return median(sum(runs) / len(runs) for runs in values.values())
