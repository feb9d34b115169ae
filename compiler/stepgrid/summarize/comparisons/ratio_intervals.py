"""Interval of each ratio of a report: one, wherever the ratio stands (comparisons, tables, claims).

A ratio of two points that a comparison has belongs to the family of that comparison, whatever the metric. Others belong
to the family of the table that shows them first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from stepgrid.model.plan import ALPHA
from stepgrid.model.units import quotient
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.statistics import confidence_intervals
from stepgrid.summarize.statistics.confidence_intervals import Interval

At = tuple[int, int]
Pair = tuple[Point, Point]
Places = tuple[tuple[Place, ...], tuple[Place, ...]]
Intervals = Mapping[Places, Interval | None]


@dataclass(frozen=True, slots=True)
class RatioIntervals:
    _families: Sequence[Sequence[Pair]] = ()  # pairs of each step and base
    _compared: dict[str, Intervals] = field(default_factory=dict)  # by metric
    _tables: dict[tuple[str, Places], Interval | None] = field(default_factory=dict)
    _alpha: float = ALPHA

    def of_loads(self, is_included: Callable[[int], bool]) -> RatioIntervals:
        """Return the intervals as if no other loads had been measured."""
        families = [
            [(point.of_loads(is_included), base.of_loads(is_included)) for point, base in family]
            for family in self._families
        ]
        measured = [[pair for pair in family if all(point.runs for point in pair)] for family in families]
        return RatioIntervals(measured, _alpha=self._alpha)

    def interval(self, metric: str, point: Point, base: Point) -> Interval | None:
        """Look up two points of a comparison, either way round."""
        intervals = self._of_comparisons(metric)
        if reverse := intervals.get(_pair_key((base, point))):
            return confidence_intervals.inverse(reverse)
        return intervals.get(_pair_key((point, base)))

    def margins(self, pairs: Mapping[At, Pair], metric: str) -> dict[At, float]:
        """Return the longer side of each interval of a table; a single load, or a run against itself, has none."""
        usable = {at: pair for at, pair in pairs.items() if _is_usable(pair, metric)}
        compared = self._of_comparisons(metric) if usable else {}
        keys = {at: _pair_key(pair) for at, pair in usable.items()}
        new = [
            pair for at, pair in usable.items() if keys[at] not in compared and (metric, keys[at]) not in self._tables
        ]
        for key, interval in _intervals([new], metric, self._alpha).items():
            self._tables[metric, key] = interval
        margins = {}
        for at, key in keys.items():
            interval = compared[key] if key in compared else self._tables[metric, key]
            if interval:
                margins[at] = max(interval.high - interval.ratio, interval.ratio - interval.low)
        return margins

    def _of_comparisons(self, metric: str) -> Intervals:
        if metric not in self._compared:
            self._compared[metric] = _intervals(self._families, metric, self._alpha)
        return self._compared[metric]


def ratio_intervals(comparisons: Iterable[Comparison], alpha: float = ALPHA) -> RatioIntervals:
    """Take the intervals that the comparisons have; those of other metrics are judged in the same families."""
    families: dict[object, dict[Places, Pair]] = {}
    by_metric: dict[str, dict[Places, Interval | None]] = {}
    for comparison in comparisons:
        intervals = by_metric.setdefault(comparison.metric.name, {})
        for case in comparison.cases():
            pair = case.point, case.base
            family = tuple(comparison.layout.base.items()), case.row.step
            families.setdefault(family, {})[_pair_key(pair)] = pair
            # an interval of a series says nothing of other loads
            interval = case.entry.interval
            intervals.setdefault(_pair_key(pair), interval if interval and interval.deviation is not None else None)
    return RatioIntervals([list(family.values()) for family in families.values()], dict(by_metric), _alpha=alpha)


def _intervals(families: Sequence[Sequence[Pair]], metric: str, alpha: float) -> Intervals:
    """Work all out at once: those of a family hold together, and all help each other to know the noise."""
    usable = [{_pair_key(pair): pair for pair in family if _is_usable(pair, metric)} for family in families]
    samples = [
        [
            confidence_intervals.sample(point.values(metric), base.values(metric), base.places)
            for point, base in family.values()
        ]
        for family in usable
    ]
    intervals: dict[Places, Interval | None] = {}
    for family, family_intervals in zip(usable, confidence_intervals.table_intervals(samples, alpha), strict=True):
        for key, interval in zip(family, family_intervals, strict=True):
            intervals.setdefault(key, interval)
    return intervals


def _pair_key(pair: Pair) -> Places:
    return pair[0].places, pair[1].places


def _is_usable(pair: Pair, metric: str) -> bool:
    """Tell whether two points are apart and have logarithms: the ratio of other figures is of medians."""
    return pair[0].places != pair[1].places and all(_are_positive(point.values(metric)) for point in pair)


def ratio(point: Point, base: Point, metric: str) -> float | None:
    """Return the ratio; of figures without logarithms that of the medians: 0 / 0 is 1, anything else / 0 infinite."""
    values, base_values = point.values(metric), base.values(metric)
    if not values or not base_values:
        return None
    if _are_positive(values) and _are_positive(base_values):
        return confidence_intervals.ratio(confidence_intervals.sample(values, base_values))
    middle, base_middle = (median(sum(runs) / len(runs) for runs in side.values()) for side in (values, base_values))
    return quotient(middle, base_middle)


def _are_positive(values: Mapping[int, Sequence[float]]) -> bool:
    return all(value > 0 for runs in values.values() for value in runs)
