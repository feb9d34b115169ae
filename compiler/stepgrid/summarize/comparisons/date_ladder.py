"""Which day changed what: of stages that were measured again, at each point, as along versions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from stepgrid.model.metrics import QPS
from stepgrid.model.plan import ALPHA, Axis
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.version_ladder import FEWEST_VERSIONS, Ladder, Pair, VersionChange, point_text
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.data.tables_reader import PastFigure, Tables
from stepgrid.summarize.statistics.change_points import changes

DATE = "date"
Days = Mapping[str, Mapping[int, Sequence[float]]]  # day -> load -> logarithms of QPS


Past = Mapping[Place, Sequence[PastFigure]]


def past_figures(tables: Tables) -> Past:
    """Older results of the stages of this plan, on the hosts of its own."""
    hosts = {facts.get("hostname") for facts in tables.facts.get("host", {}).values()}
    found: dict[Place, list[PastFigure]] = defaultdict(list)
    for each in tables.history:
        if each.host in hosts:
            found[each.place].append(each)
    return found


def date_ladder(axes: Sequence[Axis], points: Iterable[Point], past: Past, effect: float, floor: Pair) -> Ladder | None:
    """None where nothing was measured on three days."""
    names = tuple(axis.name for axis in axes if len(axis.labels) > 1)
    idle_days = [(point, _idle_days(point, past)) for point in points]
    measured = [(point, _days(point, past)) for point, idle in idle_days if not idle]
    days = [figures for _, figures in measured]
    if max(map(len, days), default=0) < FEWEST_VERSIONS:
        return None
    alpha = ALPHA / sum(len(each) >= FEWEST_VERSIONS for each in days)
    found = [
        change
        for point, each in measured
        if len(each) >= FEWEST_VERSIONS
        for change in _changes(point, each, names, (effect, alpha), floor)
    ]
    idle = tuple(
        f"{point_text(point, names)}: a load did nothing (0 QPS) on {', '.join(sorted(some))}"
        for point, some in idle_days
        if some
    )
    every = tuple(sorted({day for each in days for day in each}))
    return Ladder(DATE, every, names, tuple(sorted(found, key=lambda each: each.version)), DATE, idle)


def _idle_days(point: Point, past: Past) -> set[str]:
    """On which a load did nothing."""
    figures = [figure for run in point.runs for figure in past.get(run.place, ())]
    newest = {_day(run.attempt) for run in point.runs if run.attempt and run.metrics.get(QPS) == 0}
    return newest | {_day(figure.attempt) for figure in figures if figure.qps == 0}


def _days(point: Point, past: Past) -> Days:
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in point.runs:
        if run.attempt and QPS in run.metrics:
            found[_day(run.attempt)][run.load].append(math.log(run.metrics[QPS]))
        for each in past.get(run.place, ()):
            found[_day(each.attempt)][run.load].append(math.log(each.qps))
    return {day: found[day] for day in sorted(found)}


def _day(attempt: str) -> str:
    """20261120T101500.000000Z: 2026-11-20, UTC."""
    return f"{attempt[:4]}-{attempt[4:6]}-{attempt[6:8]}"


def _changes(
    point: Point, days: Days, names: Sequence[str], limits: tuple[float, float], floor: Pair
) -> Iterator[VersionChange]:
    labels, order = comparison_axes.key(point, names), list(days)
    noise = floor(point, point)
    for each in changes(_grid(days), *limits):
        if not isinstance(noise, float) or abs(math.log(each.ratio)) > math.log1p(noise):
            before = order[each.before], order[each.at - 1]
            yield VersionChange(order[each.at], before, point.step, labels, each)


def _grid(days: Days) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    loads = sorted({load for each in days.values() for load in each})
    return np.array([[_mean(each.get(load, ())) for load in loads] for each in days.values()])


def _mean(logs: Sequence[float]) -> float:
    return math.fsum(logs) / len(logs) if logs else math.nan
