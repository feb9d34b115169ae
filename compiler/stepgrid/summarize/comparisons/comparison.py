"""Comparisons of a report: each arm against its base, at each point of the grid; and the interval of any ratio."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from stepgrid.model.metrics import QPS
from stepgrid.model.plan import ALPHA
from stepgrid.model.units import quotient
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Labels, Layout
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Place
from stepgrid.summarize.statistics import confidence_intervals
from stepgrid.summarize.statistics.confidence_intervals import Interval, Outlier
from stepgrid.summarize.statistics.verdicts import BETTER, DIFFERENCES, FASTER, LESS, MORE, SLOWER, WORSE

BASE, RATIO, NO_BASE = "base", "ratio", "no base"
TIMES = frozenset({"s", "ms", "us", "ns"})


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    name: str = QPS
    unit: str = "operations/s"
    better: str | None = "higher"

    @property
    def title(self) -> str:
        return "QPS" if self.name == QPS else self.name

    @property
    def is_rate(self) -> bool:
        return self.unit.endswith("/s")

    @property
    def verdicts(self) -> tuple[str, str]:
        """Return the words for a ratio above 1 and below it."""
        if self.better == "higher":
            return (FASTER, SLOWER) if self.is_rate or not self.unit else (BETTER, WORSE)
        if self.better == "lower":
            return (SLOWER, FASTER) if self.unit in TIMES else (WORSE, BETTER)
        return MORE, LESS


@dataclass(frozen=True, slots=True)
class Entry:
    """An arm at a point; `kind` is BASE, RATIO, NO_BASE, SAME or ABSENT, or the status of a point that is not done."""

    kind: str
    point: Point | None = None
    interval: Interval | None = None
    ratio: float | None = None
    verdict: str | None = None
    refusal: str | None = None  # why there is no verdict: other host, assertions on one side
    as_shipped: str | None = None  # the builds' differences, where they are compared all the same
    same: str | None = None  # the arm, other than the base, whose runs these are
    floor: float | None = None  # equal arms of this experiment stay within it 19 times in 20: 0.013 is 1.3 %
    losses: str = ""  # 2 of 5 loads; 3 failed: its figures are of survivors
    doubts: tuple[str, ...] = ()  # conditions of this very ratio: measured far apart, a load far off, …
    outliers: tuple[Outlier, ...] = ()  # loads whose ratio is far from the others'
    idle: str | None = None  # loads with a figure of 0, which has no ratio

    @property
    def distance(self) -> float:
        """Return how many times the ratio is away from 1, either way; 0 where there is none."""
        return max(self.ratio, 1 / self.ratio) if self.ratio else 0.0

    @property
    def is_difference(self) -> bool:
        return self.verdict in DIFFERENCES


@dataclass(frozen=True, slots=True)
class Row:
    """A point: a step, and the labels of the axes that go down."""

    step: str
    labels: Labels
    entries: tuple[Entry, ...]  # the base's first, then one for each arm


class Case(NamedTuple):
    """A ratio of a comparison."""

    row: Row
    arm: Labels
    entry: Entry
    point: Point
    base: Point


@dataclass(frozen=True, slots=True)
class PooledRatio:
    """Geometric mean of the ratios of one value of an axis to its base, over all points of a step."""

    step: str
    axis: str
    label: str
    base: str
    ratio: float
    interval: Interval | None
    verdict: str | None
    points: int
    lowest: float  # of the points
    highest: float
    dissenting: tuple[str, ...] = ()  # points on the other side of 1 by more than the smallest effect
    as_shipped: str | None = None

    @property
    def name(self) -> str:
        return comparison_axes.words((self.label,), (self.axis,))


@dataclass(frozen=True, slots=True)
class Comparison:
    """All points of a report against one base, by one metric."""

    metric: ComparedMetric
    layout: Layout  # the axes across name the arms, those down the points
    arms: tuple[Labels, ...]  # the base's first
    rows: tuple[Row, ...]
    pooled: tuple[PooledRatio, ...] = ()

    @property
    def base(self) -> str:
        return comparison_axes.words(self.arms[0], self.layout.across)

    @property
    def arm_names(self) -> list[str]:
        """Name the arms, without the base."""
        return [self.arm_name(labels) for labels in self.arms[1:]]

    @property
    def steps(self) -> list[str]:
        return list(dict.fromkeys(row.step for row in self.rows))

    def arm_name(self, arm: Labels) -> str:
        return comparison_axes.words(arm, self.layout.across) or "-"

    def point_name(self, row: Row) -> str:
        """Name a point without its step: `threads=2`; empty where the step has one."""
        return comparison_axes.words(row.labels, self.layout.down)

    def where(self, row: Row) -> str:
        """Name a point: `readww, threads=2`."""
        return ", ".join(filter(None, (row.step, self.point_name(row))))

    def cases(self) -> Iterator[Case]:
        """List what has a base to be compared with, row by row."""
        for row in self.rows:
            base = row.entries[0].point
            for arm, entry in zip(self.arms, row.entries, strict=True):
                if entry.kind == RATIO and entry.point and base:
                    yield Case(row, arm, entry, entry.point, base)

    def pooled_of(self, step: str) -> Sequence[PooledRatio]:
        return [pooled for pooled in self.pooled if pooled.step == step]


# Interval of each ratio of a report: one, wherever the ratio stands (comparisons, tables, claims).
# A ratio of two points that a comparison has belongs to the family of that comparison, whatever the metric. Others
# belong to the family of the table that shows them first.

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
