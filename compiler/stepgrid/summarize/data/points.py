"""Points: a step of a cell over all its loads and runs, with its status and figures; and filters of points."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from stepgrid.expand.scope import Label
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import BUILD
from stepgrid.model.status import Status
from stepgrid.model.units import counted
from stepgrid.plugins.layout import STEP
from stepgrid.summarize.data.tables_reader import Place, Run

_URGENT = (Status.DONE, Status.FAILED, Status.INTERRUPTED, Status.BLOCKED, Status.UNSUPPORTED, *Status)


@dataclass(frozen=True)
class Point:
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

    @cached_property
    def places(self) -> tuple[Place, ...]:
        return tuple(run.place for run in self.runs)

    def values(self, metric: str = QPS) -> dict[int, list[float]]:
        """Figures by load."""
        if len(self.runs) == 1:
            value = self.runs[0].metrics.get(metric)
            return {} if value is None else {self.runs[0].load: [value]}
        by_load: dict[int, list[float]] = defaultdict(list)
        for run in self.runs:
            if metric in run.metrics:
                by_load[run.load].append(run.metrics[metric])
        return dict(by_load)

    def spread(self, metric: str = QPS) -> tuple[float, float, float] | None:
        """Return median, least and most over the loads; the runs of a load are averaged."""
        if len(self.runs) == 1:
            value = self.runs[0].metrics.get(metric)
            return None if value is None else (value, value, value)
        loads = [fmean(runs) for runs in self.values(metric).values()]
        return (median(loads), min(loads), max(loads)) if loads else None

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
