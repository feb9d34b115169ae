"""Comparisons of a report: each arm against its base, at each point of the grid, by one metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stepgrid.model.metrics import QPS
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Labels, Layout
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.robust_statistics import Outlier
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
