"""The interval of each ratio of a report: one, wherever the ratio stands (comparisons, tables, claims).

A ratio of two points that a comparison has is of the family of that comparison, whatever the metric. Others are of the
family of the table that they were first asked for by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from stepgrid.model.number_format import quotient
from stepgrid.summarize.comparisons.comparison import RATIO, Comparison
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.data.parquet_reader import Place
from stepgrid.summarize.statistics import confidence_intervals
from stepgrid.summarize.statistics.confidence_intervals import Interval

At = tuple[int, int]
Pair = tuple[Point, Point]
Places = tuple[tuple[Place, ...], tuple[Place, ...]]


@dataclass(frozen=True, slots=True)
class RatioIntervals:
    _families: Mapping[Places, tuple[Pair, ...]] = field(default_factory=dict)
    _known: dict[tuple[str, Places], Interval | None] = field(default_factory=dict)

    def of(self, metric: str, point: Point, base: Point) -> Interval | None:
        """Of two points of a comparison, either way round."""
        if _places((base, point)) in self._families:
            found = self._in(metric, self._families[_places((base, point))])[_places((base, point))]
            return confidence_intervals.inverse(found) if found else None
        family = self._families.get(_places((point, base)))
        return self._in(metric, family)[_places((point, base))] if family else None

    def margins(self, pairs: Mapping[At, Pair], metric: str) -> dict[At, float]:
        """Of a table: the longer side; of a single load, or of a run against itself, there is none."""
        known: dict[Places, Interval | None] = {}
        judged = {at: pair for at, pair in pairs.items() if _comparable(pair, metric)}
        for pair in judged.values():
            if family := self._families.get(_places(pair)):
                known |= self._in(metric, family)
        rest = tuple(pair for pair in judged.values() if _places(pair) not in known)
        known |= self._in(metric, rest)
        return {at: _reach(found) for at, pair in judged.items() if (found := known[_places(pair)])}

    def _in(self, metric: str, family: tuple[Pair, ...]) -> dict[Places, Interval | None]:
        """Of all of a family at once: they hold together."""
        new = {_places(pair): pair for pair in family if (metric, _places(pair)) not in self._known}
        usable = {places: pair for places, pair in new.items() if _comparable(pair, metric)}
        samples = [
            confidence_intervals.sample(a.values(metric), b.values(metric), b.places) for a, b in usable.values()
        ]
        self._known.update({(metric, places): None for places in new})
        found = zip(usable, confidence_intervals.intervals(samples), strict=True)
        self._known.update({(metric, places): interval for places, interval in found})
        return {_places(pair): self._known[metric, _places(pair)] for pair in family}


def ratio_intervals(tables: Iterable[Comparison]) -> RatioIntervals:
    families: dict[Places, tuple[Pair, ...]] = {}
    for table in tables:
        family = tuple(_pairs(table))
        for pair in family:
            families.setdefault(_places(pair), family)
    return RatioIntervals(families)


def _pairs(table: Comparison) -> Iterable[Pair]:
    for line in table.lines:
        for entry in line.entries:
            if entry.kind == RATIO and entry.point and (base := line.entries[0].point):
                yield entry.point, base


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
