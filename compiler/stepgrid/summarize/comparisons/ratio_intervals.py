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
from stepgrid.summarize.statistics.confidence_intervals import Interval, Sample

At = tuple[int, int]
Pair = tuple[Point, Point]
Places = tuple[tuple[Place, ...], tuple[Place, ...]]


Intervals = Mapping[Places, Interval | None]


@dataclass(frozen=True, slots=True)
class RatioIntervals:
    _families: Sequence[Sequence[Pair]] = ()  # of each table of comparisons
    _of_metric: dict[str, Intervals] = field(default_factory=dict)  # of all of them
    _others: dict[tuple[str, Places], Interval | None] = field(default_factory=dict)
    _alpha: float = ALPHA

    def of_loads(self, some: Callable[[int], bool]) -> RatioIntervals:
        """As if no other loads had been measured."""
        families = [[(point.of_loads(some), base.of_loads(some)) for point, base in each] for each in self._families]
        known = [[pair for pair in each if all(point.runs for point in pair)] for each in families]
        return RatioIntervals(known, _alpha=self._alpha)

    def of(self, metric: str, point: Point, base: Point) -> Interval | None:
        """Of two points of a comparison, either way round."""
        known = self._compared(metric)
        if found := known.get(_places((base, point))):
            return confidence_intervals.inverse(found)
        return known.get(_places((point, base)))

    def margins(self, pairs: Mapping[At, Pair], metric: str) -> dict[At, float]:
        """Of a table: the longer side; of a single load, or of a run against itself, there is none."""
        judged = {at: pair for at, pair in pairs.items() if _comparable(pair, metric)}
        compared = self._compared(metric) if judged else {}
        self._judge([pair for pair in judged.values() if _places(pair) not in compared], metric)
        known = {at: _places(pair) for at, pair in judged.items()}
        every = {at: compared[each] if each in compared else self._others[metric, each] for at, each in known.items()}
        return {at: _reach(found) for at, found in every.items() if found}

    def _compared(self, metric: str) -> Intervals:
        if metric not in self._of_metric:
            self._of_metric[metric] = _intervals(self._families, metric, self._alpha)
        return self._of_metric[metric]

    def _judge(self, family: Sequence[Pair], metric: str) -> None:
        """What no comparison has is of the table that asks for it first."""
        new = [pair for pair in family if (metric, _places(pair)) not in self._others]
        judged = _intervals([new], metric, self._alpha)
        self._others.update({(metric, places): found for places, found in judged.items()})


def _intervals(families: Sequence[Sequence[Pair]], metric: str, alpha: float) -> Intervals:
    """Of all at once: those of a family hold together, and all help each other to know the noise."""
    usable = [{_places(pair): pair for pair in family if _comparable(pair, metric)} for family in families]
    tables = [[_sample(pair, metric) for pair in family.values()] for family in usable]
    known: dict[Places, Interval | None] = {}
    for family, found in zip(usable, confidence_intervals.table_intervals(tables, alpha), strict=True):
        for places, interval in zip(family, found, strict=True):
            known.setdefault(places, interval)
    return known


def _sample(pair: Pair, metric: str) -> Sample:
    point, base = pair
    return confidence_intervals.sample(point.values(metric), base.values(metric), base.places)


def ratio_intervals(comparisons: Iterable[Comparison], alpha: float = ALPHA) -> RatioIntervals:
    """Take the intervals that the comparisons have; those of other metrics are judged in the same families."""
    families: dict[object, dict[Places, Pair]] = {}
    by_metric: dict[str, dict[Places, Interval | None]] = {}
    for comparison in comparisons:
        intervals = by_metric.setdefault(comparison.metric.name, {})
        for case in comparison.cases():
            pair = case.point, case.base
            family = tuple(comparison.layout.base.items()), case.row.step
            families.setdefault(family, {})[_places(pair)] = pair
            # an interval of a series says nothing of other loads
            interval = case.entry.interval
            intervals.setdefault(_places(pair), interval if interval and interval.error is not None else None)
    return RatioIntervals([list(family.values()) for family in families.values()], dict(by_metric), _alpha=alpha)


def _places(pair: Pair) -> Places:
    return pair[0].places, pair[1].places


def _comparable(pair: Pair, metric: str) -> bool:
    """Other figures have no logarithm: their ratio is of medians."""
    return pair[0].places != pair[1].places and all(
        value > 0 for point in pair for runs in point.values(metric).values() for value in runs
    )


def _reach(interval: Interval) -> float:
    return max(interval.high - interval.ratio, interval.ratio - interval.low)


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
