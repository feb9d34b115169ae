"""Points: a step of a cell over all its loads and runs, and filters of them; searches on an axis."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from stepgrid.collect.step_figures import BACKLOG, HOLDS, MET, SHARE_PCT, TRIED
from stepgrid.expand.scope import Label
from stepgrid.expand.search import Objective, Trial, boundary, knee, parse_objective, peak
from stepgrid.model import units
from stepgrid.model.metrics import QPS, STEADY_QPS
from stepgrid.model.plan import BUILD, Plan
from stepgrid.model.records import replace
from stepgrid.model.status import Status
from stepgrid.model.table import group
from stepgrid.model.units import counted
from stepgrid.plugins.driver import TARGET
from stepgrid.plugins.layout import STEP
from stepgrid.summarize.data.tables_reader import Place, Run

HELD, FAILED = "_held", "_failed"  # of a searched value: between these it lies
_URGENT = (Status.DONE, Status.FAILED, Status.INTERRUPTED, Status.BLOCKED, Status.UNSUPPORTED, *Status)


class Point(Struct, frozen=True, dict=True):
    step: str
    labels: Mapping[str, str]
    runs: tuple[Run, ...]

    @cached_property
    def status(self) -> str:
        """Done as soon as one run is; else the status that most needs attention."""
        statuses = {run.status for run in self.runs}
        return next((status for status in _URGENT if status in statuses), Status.MISSING)

    @property
    def build(self) -> str:
        return self.runs[0].build

    def is_asked_for_share(self, metric: str) -> bool:
        """Tell whether a metric is that of a rate which each arm has taken from its own maximum."""
        is_target = metric in (QPS, STEADY_QPS) or any(f"{TARGET}{metric}" in run.metrics for run in self.runs)
        return is_target and bool(self.means(SHARE_PCT))

    @cached_property
    def places(self) -> tuple[Place, ...]:
        return tuple(run.place for run in self.runs)

    def values(self, metric: str = QPS) -> dict[int, list[float]]:
        """Figures by load; no latency that loads which missed their rate do not have."""
        if len(self.runs) == 1:
            value = self.runs[0].metrics.get(metric)
            return {} if value is None else {self.runs[0].load: [value]}
        if metric.endswith("_us") and any(metric not in run.metrics for run in self.missed_runs):
            return {}
        return group((run.load, run.metrics[metric]) for run in self.runs if metric in run.metrics)

    def spread(self, metric: str = QPS) -> tuple[float, float, float] | None:
        """Return mean, least and most over the loads; the runs of a load are averaged first, as for a ratio."""
        if len(self.runs) == 1:
            value = self.runs[0].metrics.get(metric)
            return None if value is None else (value, value, value)
        loads = self.means(metric)
        return (units.mean(loads), min(loads), max(loads)) if loads else None

    @cached_property
    def missed_runs(self) -> Sequence[Run]:
        """Runs whose clients did not keep up with their rate."""
        return [run for run in self.runs if run.metrics.get(MET) == 0 or run.metrics.get(BACKLOG)]

    def means(self, metric: str = QPS) -> list[float]:
        """Average the runs of each load."""
        return [units.mean(runs) for runs in self.values(metric).values()]

    def bracket(self, metric: str) -> tuple[float, float] | None:
        """Return between which values a searched one lies, means over the loads; 0 and infinity where one is open."""
        lows, highs = self.means(metric + HELD), self.means(metric + FAILED)
        is_open = any(run.metrics.get(metric + HELD) == 0 for run in self.runs)
        return (0.0 if is_open else units.mean(lows), units.mean(highs)) if lows else None

    @property
    def is_limit(self) -> bool:
        """Tell the limits that searches found: no run has such a figure, nor is there another one beside it."""
        names = {name for run in self.runs for name in run.metrics}
        return any(name.endswith(HELD) and name.removesuffix(HELD) + FAILED in names for name in names)

    def of_loads(self, is_included: Callable[[int], bool]) -> Point:
        """Return the point as if no other loads had been measured."""
        return Point(self.step, self.labels, tuple(run for run in self.runs if is_included(run.load)))

    @cached_property
    def idle_loads(self) -> int:
        """Loads with a run at 0 QPS, which has no ratio."""
        return sum(0 in runs for runs in self.values().values())

    @property
    def idleness(self) -> str:
        """1 of 5 loads did nothing (0 QPS)"""
        return f"{self.idle_loads} of {counted(self.loads[0], 'load')} did nothing (0 QPS)" if self.idle_loads else ""

    @property
    def losses(self) -> str:
        """2 of 5 loads; 3 failed: the others may not be what all would have shown"""
        measured = self._measured_loads
        failed = {run.load for run in self.runs if run.status == Status.FAILED} - measured
        return f"{len(measured)} of {counted(self.loads[1], 'load')}; {len(failed)} failed" if failed else ""

    @cached_property
    def loads(self) -> tuple[int, int]:
        """Number of loads with a figure, and of loads planned."""
        return len(self._measured_loads), len({run.load for run in self.runs})

    @property
    def _measured_loads(self) -> set[int]:
        return {run.load for run in self.runs if run.metrics}


def points(runs: Iterable[Run], step: str, axes: Sequence[str]) -> list[Point]:
    """Make one point for each combination of the axes that touch the step: cells that differ elsewhere share it."""
    cells: dict[tuple[str | None, ...], list[Run]] = {}
    for run in runs:
        if run.step == step:
            members = cells.setdefault(tuple(run.labels.get(axis) for axis in axes), [])
            if not members or members[0].cell == run.cell:
                members.append(run)
    return [
        Point(step, {axis: members[0].labels[axis] for axis in axes if axis in members[0].labels}, tuple(members))
        for members in cells.values()
    ]


# The points that a table or a claim is about: labels by text or by value; a family of builds stands for its versions.

Wanted = Mapping[str, object]  # axis or `step` -> a label, or any of several

_GRID = re.compile(r"([^\[]+)\[(.*)\](.*)")


def label(point: Point, axis: str) -> str | None:
    return point.step if axis == STEP else point.labels.get(axis)


def choose_points(points: Sequence[Point], wanted: Wanted) -> list[Point]:
    """Choose points by label. A point that an axis does not touch has all its labels."""
    builds = {label(point, BUILD) for point in points}
    return [point for point in points if all(_fits(point, axis, value, builds) for axis, value in wanted.items())]


def _fits(point: Point, axis: str, wanted: object, builds: Collection[str | None]) -> bool:
    text = label(point, axis)
    if text is None:
        return True
    values = wanted if isinstance(wanted, list | tuple) else (wanted,)
    if text in values:
        return True
    if axis == STEP:
        return any(_is_in_grid(point, str(value)) for value in values)
    # the name of a build means that build alone, and no family
    is_of_family = axis == BUILD and any(value not in builds and text.startswith(f"{value}-") for value in values)
    return is_of_family or any(Label(text) == value for value in values)


def _is_in_grid(point: Point, step: str) -> bool:
    """Match search[ef=10,clients=1] with the step `search` at these labels of its live grid."""
    parts = _GRID.fullmatch(step)
    if parts is None or parts[1] + parts[3] != point.step:
        return False
    variables = (pair.partition("=") for pair in parts[2].split(","))
    return all(point.labels.get(name) == value for name, _, value in variables)


# Searches on an axis: the values that each load tried and its answer, for each combination of the other axes


class SearchedAxis(Struct, frozen=True, dict=True):
    """A search of the spec."""

    step: str
    variable: str
    param: str
    text: str  # its objective
    least: int
    most: int
    is_mixed: bool = False  # arms search over another range or for another limit

    @cached_property
    def objective(self) -> Objective:
        return parse_objective(self.text)

    @property
    def title(self) -> str:
        return f"{self.step}: {self.text}"

    @property
    def is_boundary(self) -> bool:
        return self.objective.name == self.variable

    @property
    def metric(self) -> str:
        """Name the answer as a metric."""
        return f"highest_{self.variable}"

    @property
    def unit(self) -> str:
        return "B" if self.param.endswith(units.SIZED) else "1"

    @property
    def figures(self) -> list[str]:
        """The metrics that it looks at; first the one that is to be as large as possible."""
        names = sorted(self.objective.names - {self.variable, self.objective.name})
        return [*([] if self.is_boundary else [self.objective.name]), *names]

    def has(self, run: Run) -> bool:
        return run.step == self.step and self.variable in run.labels


class AxisAnswers(Struct, frozen=True, dict=True):
    """A search at one combination of the other axes."""

    axis: SearchedAxis
    labels: Mapping[str, str]
    loads: Mapping[tuple[int, int], Sequence[Run]]  # runs with figures, in the order in which they ran
    empty_runs: tuple[Run, ...] = ()  # one of each load without figures
    maximum: tuple[str, float] | None = None  # of the steps of its kind without a rate the one that reached most

    @cached_property
    def _trials(self) -> list[list[Trial]]:
        """Trials of each load."""
        name = TRIED if self.axis.is_boundary else self.axis.objective.name
        return [
            [Trial(int(run.metrics[TRIED]), run.metrics.get(HOLDS) == 1.0, run.metrics.get(name, 0.0)) for run in runs]
            for runs in self.loads.values()
        ]

    @cached_property
    def _boundaries(self) -> list[tuple[int | None, int | None]]:
        return [boundary(self.axis.least, self.axis.most, trials) for trials in self._trials]

    @property
    def answers(self) -> Sequence[int]:
        """The value that holds, or the one with the best figure, of each load that has one."""
        if self.axis.is_boundary:
            return [value for value, _ in self._boundaries if value is not None]
        return [best.value for trials in self._trials if (best := peak(trials))]

    @property
    def failing(self) -> Sequence[int]:
        """The smallest value that failed, of each load with an answer; where none has one, of each load."""
        having = [pair for pair in self._boundaries if pair[0] is not None or not self.answers]
        return [value for _, value in having if value is not None]

    @property
    def knees(self) -> Sequence[int]:
        return [bend for trials in self._trials if (bend := knee(trials)) is not None]

    @property
    def best(self) -> float | None:
        """The best figure, a mean over the loads."""
        figures = [best.figure for trials in self._trials if (best := peak(trials))]
        return units.mean(figures) if figures else None

    def runs(self) -> Iterator[Run]:
        """Make a run of each load whose figure is its answer, or the end that is known of one that is open."""
        name = self.axis.metric
        for runs, (low, high) in zip(self.loads.values(), self._boundaries, strict=True):
            value = low or high
            ends = {name + HELD: float(low or 0), name + FAILED: float(high or math.inf)}
            yield replace(runs[0], labels=self.labels, metrics={name: float(value), **ends} if value else {})
        yield from (replace(run, labels=self.labels, metrics={}) for run in self.empty_runs)

    def curve(self) -> Iterator[tuple[int, Sequence[Run]]]:
        """Yield the tried values in order, each with its runs of all loads."""
        by_value = group((int(run.metrics[TRIED]), run) for runs in self.loads.values() for run in runs)
        yield from sorted(by_value.items())


def searched_axes(header: Plan) -> list[SearchedAxis]:
    """List the searches; one that arms do not share covers the ranges of all."""
    axes = []
    for searches in group(((search.step, search.variable), search) for search in header.searches).values():
        first, ends = searches[0], (min(s.least for s in searches), max(s.most for s in searches))
        forms = {(search.param, search.objective, search.least, search.most) for search in searches}
        axes.append(SearchedAxis(first.step, first.variable, first.param, first.objective, *ends, len(forms) > 1))
    return axes


def without_searches(header: Plan, runs: Iterable[Run]) -> tuple[Run, ...]:
    """Leave out what searches tried: it differs from load to load, and is compared with nothing."""
    axes = searched_axes(header)
    return tuple(run for run in runs if not any(axis.has(run) for axis in axes))


def find_searches(axes: Iterable[SearchedAxis], runs: Sequence[Run]) -> list[AxisAnswers]:
    """Sort the runs of each search by the labels of the other axes, and by load."""
    result = []
    for axis in axes:
        searching = (run for run in runs if run.measured and axis.has(run))
        arms = group((tuple(pair for pair in run.labels.items() if pair[0] != axis.variable), run) for run in searching)
        for labels, members in arms.items():
            tries = [run for run in members if TRIED in run.metrics]
            loads = group(((run.load, run.run), run) for run in tries)
            empty_runs = {(run.load, run.run): run for run in members if (run.load, run.run) not in loads}
            result.append(AxisAnswers(axis, dict(labels), loads, (*empty_runs.values(),), _maximum(tries, runs)))
    return result


def _maximum(tries: Sequence[Run], runs: Iterable[Run]) -> tuple[str, float] | None:
    """Find what the same loads reached in a step of this kind without a rate."""
    stages = {(run.kind, run.place[0]) for run in tries}
    names = {name for run in tries for name in run.metrics if name.startswith(TARGET)} - {MET}
    free = (run for run in runs if run.measured and (run.kind, run.place[0]) in stages and MET not in run.metrics)
    pairs = ((run, name.removeprefix(TARGET)) for run in free for name in names)
    figures = group((run.step, run.metrics[name]) for run, name in pairs if name in run.metrics)
    maxima = ((step, units.mean(values)) for step, values in figures.items())
    return max(maxima, key=lambda pair: pair[1], default=None)


def mean(runs: Sequence[Run], metric: str) -> float | None:
    spread = Point("", {}, tuple(runs)).spread(metric)
    return spread[0] if spread else None
