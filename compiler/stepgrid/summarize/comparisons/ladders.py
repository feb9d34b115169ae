"""Changes along an order: from which version or day on a step became faster or slower; drift while it was measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

import numpy as np
import re2
from msgspec import Struct, field
from numpy.typing import NDArray

from stepgrid.collect.series import CHANCE
from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import ALPHA, PlannedAxis
from stepgrid.model.table import Cell, Column, Table, group
from stepgrid.model.units import duration, percent, ratio_with_interval
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import ComparedMetric
from stepgrid.summarize.comparisons.judgement import RatioEvidence, idleness, is_within
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import PastFigure, Place, Tables
from stepgrid.summarize.statistics.confidence_intervals import Values, log_mean, special
from stepgrid.summarize.statistics.time_series import LevelChange, changes

FEWEST_RUNGS = 3  # versions, or days
MOST_TEXTS = 8  # sentences
DATE = "date"
_VERSION = re2.compile(r"(.*?\D)v?(\d+(?:\.\d+)+)")  # labels are a stranger's: in linear time
Grid = NDArray[np.float64]  # logarithms: a row for each rung, a column for each load


class RungChange(Struct, frozen=True):
    step: str
    labels: comparison_axes.Labels  # of the other axes
    rung: str  # the first of the new level
    previous: tuple[str, str]  # the level before it: its first and its last rung
    change: LevelChange

    def where(self, names: Sequence[str]) -> str:
        return ", ".join(filter(None, (self.step, comparison_axes.words(self.labels, names))))

    @property
    def interval(self) -> str:
        _, _, ratio, low, high, verdict = self.change
        return f"{ratio_with_interval(ratio, low, high)} {verdict}"


class Ladder(Struct, frozen=True):
    axis: str
    rungs: tuple[str, ...]  # in order
    names: tuple[str, ...]  # other axes that vary
    changes: tuple[RungChange, ...]
    metric: ComparedMetric = field(default_factory=ComparedMetric)
    noun: str = "version"
    idle: tuple[str, ...] = ()  # points in no level: a load of them did nothing, or others used the host
    spans: tuple[str, ...] = ()  # of rungs that were compared with each other at every point

    @property
    def sentences(self) -> list[str]:
        """Name the steps that each rung changed."""
        texts = [
            f"from `{rung}` on: {'; '.join(f'{change.where(self.names)} {change.interval}' for change in changes)}"
            for rung, changes in group((change.rung, change) for change in self.changes).items()
        ]
        where = f"in {' and in '.join(self.spans)}" if self.spans else f"where {self.noun}s were compared"
        none = f"no change from one {self.noun} to the next {where}"
        first = units.first(texts, MOST_TEXTS, f" {self.noun}s: `{self.title}`")
        return [*(first or [none]), *(f"not judged: {point}" for point in self.idle[:MOST_TEXTS])]

    @property
    def title(self) -> str:
        return f"changes along {self.axis}"

    @property
    def table(self) -> Table:
        labels = ("from", "before", "step", *self.names)
        figures = Column(f"{self.metric.title}, this level to the one before", is_text=True)
        columns = (*(Column(name, label=True) for name in labels), figures)
        rows = []
        for change in self.changes:
            first, last = change.previous
            previous = first if first == last else f"{first} to {last}"
            other_labels = (label or "-" for label in change.labels)
            rows.append(tuple(map(Cell, (change.rung, previous, change.step, *other_labels, change.interval))))
        return Table(self.title, columns, tuple(rows))


# Versions


def version_ladder(
    axes: Sequence[PlannedAxis], points: Sequence[Point], evidence: RatioEvidence, metric: ComparedMetric
) -> Ladder | None:
    """Look for changes along an axis of versions of one engine; None where no point has three of them."""
    axis = next((axis for axis in axes if len(versions(axis.labels)) >= FEWEST_RUNGS), None)
    if axis is None:
        return None
    order = versions(axis.labels)
    names = tuple(other.name for other in axes if other is not axis and len(other.labels) > 1)
    ladder_changes: list[RungChange] = []
    pairs_by_row: list[set[tuple[str, str]]] = []  # of neighbours that were compared
    for step, step_points in group((point.step, point) for point in points).items():
        rows = group((comparison_axes.key(point, names), point) for point in step_points)
        for labels, members in rows.items():
            pairs = set[tuple[str, str]]()
            for stretch in _stretches(order, axis.name, members, evidence, metric.name):
                rungs = {point.labels[axis.name]: point.values(metric.name) for point in stretch}
                if sum(len(loads) > 1 for loads in rungs.values()) >= FEWEST_RUNGS:
                    first, *_, last = map(order.index, rungs)
                    pairs.update(pairwise(order[first : last + 1]))
                for rung_change in _find_changes(rungs, evidence.effect, ALPHA / len(rows)):
                    after = [point.labels[axis.name] for point in stretch].index(rung_change[0])
                    floor = evidence.floor(stretch[after], stretch[after - 1], axes, metric.name)
                    if not is_within(floor, rung_change[2].ratio):
                        rung, previous, change = rung_change
                        named = change._replace(verdict=metric.word(change.verdict))
                        ladder_changes.append(RungChange(step, labels, rung, previous, named))
            pairs_by_row += [pairs] if len(members) >= FEWEST_RUNGS else []
    if not any(pairs_by_row):
        return None
    ladder_changes.sort(key=lambda change: order.index(change.rung))
    idle = tuple(
        f"`{point.labels.get(axis.name)}`, {_point_text(point, names)}: {zeros}"
        for point in points
        if (
            zeros := idleness(point, point, metric.name).partition("; ")[0]
            or evidence.disturbance(metric.name, (point,))
        )
    )
    spans = _spans(order, set.intersection(*pairs_by_row))
    return Ladder(axis.name, order, names, tuple(ladder_changes), metric, idle=idle, spans=spans)


def _spans(order: Sequence[str], pairs: set[tuple[str, str]]) -> tuple[str, ...]:
    """Join neighbours that were compared to the longest spans, as text."""
    ends: list[tuple[str, str]] = []
    for before, after in pairwise(order):
        if (before, after) not in pairs:
            continue
        if ends and ends[-1][1] == before:
            ends[-1] = ends[-1][0], after
        else:
            ends.append((before, after))
    return tuple(f"{first} to {last}" for first, last in ends)


def versions(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort labels as versions; nothing where they are not all versions of one thing."""
    matches = {label: match for label in labels if (match := _VERSION.fullmatch(label))}
    if len(matches) != len([*labels]) or len({match[1] for match in matches.values()}) != 1:
        return ()
    return tuple(sorted(matches, key=lambda label: [*map(int, matches[label][2].split("."))]))


def _stretches(
    order: Sequence[str], axis: str, points: Sequence[Point], evidence: RatioEvidence, metric: str
) -> Iterator[list[Point]]:
    """Split versions where one may not be compared with the one before, or a load of it has a figure of 0."""
    by_version: Mapping[str | None, Point] = {point.labels.get(axis): point for point in points if point.values(metric)}
    stretch: list[Point] = []
    for point in (by_version[version] for version in order if version in by_version):
        is_idle = bool(idleness(point, point, metric) or evidence.disturbance(metric, (point,)))
        if stretch and (is_idle or evidence.refusal(point, stretch[-1]) or evidence.shipped(point, stretch[-1])):
            yield stretch
            stretch = []
        if not is_idle:
            stretch.append(point)
    yield stretch


def _find_changes(
    rungs: Mapping[str, Values], effect: float, alpha: float
) -> Iterator[tuple[str, tuple[str, str], LevelChange]]:
    """Yield the first rung of a new level, and the first and the last one of the level before it."""
    names, loads = list(rungs), sorted({load for figures in rungs.values() for load in figures})
    grid = np.array([[log_mean(figures.get(load, ())) for load in loads] for figures in rungs.values()])
    for change in (changes(grid, effect, alpha) or ()) if len(names) >= FEWEST_RUNGS else ():
        yield names[change.at], (names[change.before], names[change.at - 1]), change


def _point_text(point: Point, names: Sequence[str]) -> str:
    """Name a point: `readww, cache=lru`."""
    return ", ".join(filter(None, (point.step, comparison_axes.words(comparison_axes.key(point, names), names))))


# Days: stages that were measured again

Days = Mapping[str, Values]  # QPS


def date_ladder(
    axes: Sequence[PlannedAxis], points: Iterable[Point], tables: Tables, evidence: RatioEvidence
) -> Ladder | None:
    """Look for changes of QPS from day to day on the hosts of the plan; None where no point has three days."""
    names = tuple(axis.name for axis in axes if len(axis.labels) > 1)
    hosts = {facts.get("hostname") for facts in tables.facts.get("host", {}).values()}
    past = group((figure.place, figure) for figure in tables.history if figure.host in hosts)
    usable, idle = [], []
    for point in points:
        days = _days(point, past)
        if zeros := [day for day, loads in days.items() if any(min(figures) <= 0 for figures in loads.values())]:
            idle.append(f"{_point_text(point, names)}: a load did nothing (0 QPS) on {', '.join(zeros)}")
        else:
            usable.append((point, days))
    long = [(point, days) for point, days in usable if len(days) >= FEWEST_RUNGS]
    if not long:
        return None
    ladder_changes: list[RungChange] = []
    for point, days in long:
        floor, labels = evidence.floor(point, point, axes), comparison_axes.key(point, names)
        found_changes = _find_changes(days, evidence.effect, ALPHA / len(long))
        ladder_changes += [
            RungChange(point.step, labels, *change) for change in found_changes if not is_within(floor, change[2].ratio)
        ]
    ladder_changes.sort(key=lambda change: change.rung)
    rungs = sorted({day for _, days in usable for day in days})
    spans = (f"{rungs[0]} to {rungs[-1]}",)
    return Ladder(DATE, tuple(rungs), names, tuple(ladder_changes), noun=DATE, idle=tuple(idle), spans=spans)


def _days(point: Point, past: Mapping[Place, Sequence[PastFigure]]) -> Days:
    figures = [(run.attempt, run.load, run.metrics[QPS]) for run in point.runs if run.attempt and QPS in run.metrics]
    figures += [(figure.attempt, run.load, figure.qps) for run in point.runs for figure in past.get(run.place, ())]
    # an attempt begins with its day, UTC: 20261120T101500.000000Z
    days = group((f"{time[:4]}-{time[4:6]}-{time[6:8]}", (load, qps)) for time, load, qps in figures)
    return {day: group(days[day]) for day in sorted(days)}


# Drift: a step that became faster or slower in the course of an experiment, whatever the arm.
# Least squares of each figure's logarithm on its time, with a mean for every arm and every load. Within a block all
# arms are measured once, in a random order, so that a trend with time is none of the arms'. Changes from one block to
# the next cannot be told from differences between the loads, and are in neither.

FEWEST_FREEDOMS = 8  # degrees of freedom
ROUNDS = 50  # of taking out means in turn: one is exact where no run is missing


class Drift(Struct, frozen=True):
    step: str
    per_hour: float  # of the logarithm
    hours: float  # from the first to the last run of a load, the median: the trend is known for no longer
    chance: float

    @property
    def brief(self) -> str:
        span = 3600 * self.hours
        time = f"{span:.0f} s" if span < 60 else duration(span)
        return f"{self.step} drifted by {percent(round(self.size, 2))} ({time})"

    @property
    def text(self) -> str:
        span, change = duration(3600 * self.hours), "faster" if self.per_hour > 0 else "slower"
        return (
            f"{self.step}: became {percent(self.size)} {change} from the first to the last arm of a load ({span}), "
            "whatever the arm: the random order keeps that out of the ratios, not out of the figures"
        )

    @property
    def size(self) -> float:
        return abs(math.expm1(self.per_hour * self.hours))


def drifts(steps: Sequence[tuple[str, Sequence[Point]]]) -> list[Drift]:
    """List those that chance would hardly show in any of these steps."""
    drifts = [drift for step, points in steps if (drift := step_drift(step, points))]
    return [drift for drift in drifts if drift.chance * len(drifts) < CHANCE]


def step_drift(step: str, points: Iterable[Point]) -> Drift | None:
    """Fit a step's drift; None where too few runs are left to tell, or a load did nothing."""
    points = list(points)
    rows = [] if any(point.idle_loads for point in points) else list(_rows(points))
    arms, loads = ({row[index] for row in rows} for index in (0, 1))
    freedom = len(rows) - len(arms) - len(loads)
    if freedom < FEWEST_FREEDOMS:
        return None

    arm_numbers, load_numbers = (np.unique([row[index] for row in rows], return_inverse=True)[1] for index in (0, 1))
    time, logs = (_center(np.array([row[index] for row in rows]), arm_numbers, load_numbers) for index in (2, 3))
    if not (spread := float(time @ time)) > 1e-9:
        return None
    slope = float(time @ logs) / spread
    residuals = logs - slope * time
    error = math.sqrt(max(float(residuals @ residuals), 1e-18) / freedom / spread)
    times = group((load, hours) for _, load, hours, _ in rows)
    span = median(max(hours) - min(hours) for hours in times.values())
    return Drift(step, slope, span, 2 * special("stdtr", freedom, -abs(slope) / error))


def _rows(points: Iterable[Point]) -> Iterator[tuple[int, int, float, float]]:
    """Yield arm, load, hours and logarithm of each run."""
    counted: set[object] = set()  # a run of several arms counts once
    for arm, point in enumerate(points):
        for run in point.runs:
            if run.started and QPS in run.metrics and run.place not in counted:
                counted.add(run.place)
                yield arm, run.load, run.started.timestamp() / 3600, math.log(run.metrics[QPS])


def _center(values: Grid, *groups: NDArray[np.intp]) -> Grid:
    """Take out the means of groups, in turn until they stay 0."""

    values = values - values.mean()
    for _ in range(ROUNDS):
        before = values
        for members in groups:
            values = values - (np.bincount(members, values) / np.bincount(members))[members]
        if np.abs(values - before).max() < 1e-12:
            break
    return values
