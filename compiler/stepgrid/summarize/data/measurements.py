"""A point is a cell's step over all its repeats: its status and its figures by load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from stepgrid.model.metrics import QPS
from stepgrid.model.status import Status
from stepgrid.model.units import counted
from stepgrid.summarize.data.parquet_reader import Run

_URGENT = (Status.DONE, Status.FAILED, Status.INTERRUPTED, Status.BLOCKED, Status.UNSUPPORTED, *Status)


@dataclass(frozen=True)
class Point:
    step: str
    labels: Mapping[str, str]
    runs: tuple[Run, ...]

    @cached_property
    def status(self) -> str:
        """Done as soon as one repeat is; else what most needs attention."""
        found = {run.status for run in self.runs}
        return next((status for status in _URGENT if status in found), Status.MISSING)

    @property
    def build(self) -> str:
        return self.runs[0].build

    @cached_property
    def places(self) -> tuple[tuple[str, int], ...]:
        return tuple(run.place for run in self.runs)

    @property
    def reason(self) -> str | None:
        return next((run.reason for run in self.runs if run.status == self.status), None)

    def values(self, metric: str = QPS) -> dict[int, list[float]]:
        if len(self.runs) == 1:
            only = self.runs[0].metrics.get(metric)
            return {} if only is None else {self.runs[0].load: [only]}
        found: dict[int, list[float]] = defaultdict(list)
        for run in self.runs:
            if metric in run.metrics:
                found[run.load].append(run.metrics[metric])
        return dict(found)

    def spread(self, metric: str = QPS) -> tuple[float, float, float] | None:
        """(median, least, most) over the loads; the runs of a load are averaged."""
        if len(self.runs) == 1:
            only = self.runs[0].metrics.get(metric)
            return None if only is None else (only, only, only)
        loads = [fmean(runs) for runs in self.values(metric).values()]
        return (median(loads), min(loads), max(loads)) if loads else None

    def of_loads(self, some: Callable[[int], bool]) -> Point:
        """The same point, as if no other loads had been measured."""
        return Point(self.step, self.labels, tuple(run for run in self.runs if some(run.load)))

    @cached_property
    def idle_loads(self) -> int:
        """Loads of which a run did nothing: 0 QPS is a figure, and has no ratio."""
        return sum(0 in runs for runs in self.values().values())

    @property
    def idleness(self) -> str:
        """1 of 5 loads did nothing (0 QPS)"""
        return f"{self.idle_loads} of {counted(self.loads[0], 'load')} did nothing (0 QPS)" if self.idle_loads else ""

    @property
    def losses(self) -> str:
        """2 of 5 loads; 3 failed: what is left may not be what all would have shown"""
        measured = self.values()
        failed = {run.load for run in self.runs if run.status == Status.FAILED} - measured.keys()
        return f"{len(measured)} of {counted(self.loads[1], 'load')}; {len(failed)} failed" if failed else ""

    @cached_property
    def loads(self) -> tuple[int, int]:
        """(loads with a figure, loads planned)"""
        return len(self.values()), len({run.load for run in self.runs})


def points(runs: Iterable[Run], step: str, axes: Sequence[str]) -> list[Point]:
    """One per combination of the axes that touch the step: cells that differ elsewhere only share it."""
    cells: dict[tuple[str | None, ...], list[Run]] = {}
    for run in runs:
        if run.step == step:
            members = cells.setdefault(tuple(run.labels.get(axis) for axis in axes), [])
            if not members or members[0].cell == run.cell:
                members.append(run)
    return [Point(step, _labels(members[0], axes), tuple(members)) for members in cells.values()]


def _labels(run: Run, axes: Sequence[str]) -> dict[str, str]:
    return {axis: run.labels[axis] for axis in axes if axis in run.labels}
