"""Searches on an axis: what each load tried, and what it found, for each combination of the other axes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from stepgrid.collect.step_figures import HOLDS, TRIED
from stepgrid.language.expressions import Objective, parse_objective
from stepgrid.model.plan import Header
from stepgrid.model.search import Trial, boundary, knee, peak
from stepgrid.summarize.data.parquet_reader import Run


@dataclass(frozen=True)
class SearchedAxis:
    """A search of the spec."""

    step: str
    variable: str
    param: str
    text: str  # its objective
    least: int
    most: int

    @cached_property
    def objective(self) -> Objective:
        return parse_objective(self.text)

    @property
    def is_boundary(self) -> bool:
        return self.objective.name == self.variable

    @property
    def figures(self) -> list[str]:
        """The metrics that it looks at: what is as large as possible first."""
        names = sorted(self.objective.names - {self.variable, self.objective.name})
        return [*([] if self.is_boundary else [self.objective.name]), *names]

    def boundary(self, trials: Sequence[Trial]) -> tuple[int | None, int | None]:
        return boundary(self.least, self.most, trials)

    def has(self, run: Run) -> bool:
        return run.step == self.step and self.variable in run.labels


@dataclass(frozen=True)
class Searched:
    """One combination of the other axes."""

    axis: SearchedAxis
    labels: Mapping[str, str]
    loads: Mapping[tuple[int, int], Sequence[Run]]  # those that have figures, in the order in which they ran

    def trials(self, runs: Sequence[Run]) -> list[Trial]:
        return [self._trial(run) for run in runs]

    def _trial(self, run: Run) -> Trial:
        value, name = run.metrics[TRIED], self.axis.objective.name
        figure = value if self.axis.is_boundary else run.metrics.get(name, 0.0)
        return Trial(int(value), run.metrics.get(HOLDS) == 1.0, figure)

    @cached_property
    def found(self) -> Sequence[int]:
        """Of each load the value that holds, or the one with the best figure."""
        every = [self.trials(runs) for runs in self.loads.values()]
        if self.axis.is_boundary:
            return [held for trials in every if (held := self.axis.boundary(trials)[0]) is not None]
        return [best.value for trials in every if (best := peak(trials))]

    @cached_property
    def beyond(self) -> Sequence[int]:
        """Of each load the smallest value that failed."""
        every = [self.trials(runs) for runs in self.loads.values()]
        return [failed for trials in every if (failed := self.axis.boundary(trials)[1]) is not None]

    @cached_property
    def knees(self) -> Sequence[int]:
        every = [self.trials(runs) for runs in self.loads.values()]
        return [bend for trials in every if (bend := knee(trials)) is not None]

    @cached_property
    def best(self) -> float | None:
        """The best figure, a median over the loads."""
        found = [best.figure for runs in self.loads.values() if (best := peak(self.trials(runs)))]
        return median(found) if found else None

    def curve(self) -> Iterator[tuple[int, Sequence[Run]]]:
        """The tried values in order, each with its runs of all loads."""
        found: dict[int, list[Run]] = defaultdict(list)
        for runs in self.loads.values():
            for run in runs:
                found[int(run.metrics[TRIED])].append(run)
        yield from sorted(found.items())


def axes(header: Header) -> list[SearchedAxis]:
    names = ("step", "variable", "param", "for", "least", "most")
    return [SearchedAxis(*(each[name] for name in names)) for each in header.searches]


def searches(found: Iterable[SearchedAxis], runs: Sequence[Run]) -> list[Searched]:
    return [each for axis in found for each in _of(axis, [run for run in runs if run.measured and axis.has(run)])]


def _of(axis: SearchedAxis, runs: Sequence[Run]) -> Iterator[Searched]:
    arms: dict[tuple[tuple[str, str], ...], dict[tuple[int, int], list[Run]]] = {}
    for run in runs:
        others = tuple((name, label) for name, label in run.labels.items() if name != axis.variable)
        loads = arms.setdefault(others, {})
        if TRIED in run.metrics:
            loads.setdefault((run.load, run.run), []).append(run)
    for others, loads in arms.items():
        yield Searched(axis, dict(others), loads)


def mean(runs: Sequence[Run], metric: str) -> float | None:
    values = [run.metrics[metric] for run in runs if metric in run.metrics]
    return fmean(values) if values else None
