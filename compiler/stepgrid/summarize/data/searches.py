"""Searches on an axis: the values that each load tried and its answer, for each combination of the other axes."""

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
from stepgrid.summarize.data.tables_reader import Run


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
        """The metrics that it looks at; first the one that is to be as large as possible."""
        names = sorted(self.objective.names - {self.variable, self.objective.name})
        return [*([] if self.is_boundary else [self.objective.name]), *names]

    def has(self, run: Run) -> bool:
        return run.step == self.step and self.variable in run.labels


@dataclass(frozen=True)
class Search:
    """A search at one combination of the other axes."""

    axis: SearchedAxis
    labels: Mapping[str, str]
    loads: Mapping[tuple[int, int], Sequence[Run]]  # runs with figures, in the order in which they ran

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
        """The smallest value that failed, of each load that has one."""
        return [value for _, value in self._boundaries if value is not None]

    @property
    def knees(self) -> Sequence[int]:
        return [bend for trials in self._trials if (bend := knee(trials)) is not None]

    @property
    def best(self) -> float | None:
        """The best figure, a median over the loads."""
        figures = [best.figure for trials in self._trials if (best := peak(trials))]
        return median(figures) if figures else None

    def curve(self) -> Iterator[tuple[int, Sequence[Run]]]:
        """Yield the tried values in order, each with its runs of all loads."""
        by_value: dict[int, list[Run]] = defaultdict(list)
        for runs in self.loads.values():
            for run in runs:
                by_value[int(run.metrics[TRIED])].append(run)
        yield from sorted(by_value.items())


def searched_axes(header: Header) -> list[SearchedAxis]:
    names = ("step", "variable", "param", "for", "least", "most")
    return [SearchedAxis(*(search[name] for name in names)) for search in header.searches]


def searches(axes: Iterable[SearchedAxis], runs: Sequence[Run]) -> list[Search]:
    """Sort the runs of each search by the labels of the other axes, and by load."""
    result = []
    for axis in axes:
        arms: dict[tuple[tuple[str, str], ...], dict[tuple[int, int], list[Run]]] = {}
        for run in runs:
            if not (run.measured and axis.has(run)):
                continue
            labels = tuple((name, label) for name, label in run.labels.items() if name != axis.variable)
            loads = arms.setdefault(labels, {})
            if TRIED in run.metrics:
                loads.setdefault((run.load, run.run), []).append(run)
        result += [Search(axis, dict(labels), loads) for labels, loads in arms.items()]
    return result


def mean(runs: Sequence[Run], metric: str) -> float | None:
    values = [run.metrics[metric] for run in runs if metric in run.metrics]
    return fmean(values) if values else None
