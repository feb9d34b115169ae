"""The noise floor: how far apart equal things came out in this experiment, of each step and engine.

Two kinds. `again`: a stage that started from one and the same database, as arms do that share their loads. Not again:
loads of one cell, and loads that were measured again, each with a database of its own, as arms have that share none.
Of both, what a block has in common is taken out first, as it is out of a ratio whose loads are paired. No figure of
another experiment is among them: the verdict of one spec does not depend on which others share the store.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean, median
from typing import NamedTuple

from stepgrid.model.metrics import QPS
from stepgrid.summarize.comparisons.block_effects import Residual, residuals
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.data.tables_reader import PastFigure, Run
from stepgrid.summarize.statistics.confidence_intervals import exp
from stepgrid.summarize.statistics.medians import SURE
from stepgrid.summarize.statistics.scipy_functions import special
from stepgrid.summarize.statistics.variance import FLOOR as ROUNDED

FEWEST_GROUPS, FEWEST = 3, 6  # groups of equal things; degrees of freedom in all
Kind = tuple[bool, str, str, str]  # again, step, kind of the step, engine


@dataclass(frozen=True, slots=True)
class Spread:
    deviation: float  # of the logarithm of one figure
    freedom: int
    groups: int


@dataclass(frozen=True, slots=True)
class Floors:
    """Groups of equal things; worked out when something is compared."""

    _groups: Mapping[Kind, Sequence[Residual]] = field(default_factory=dict)
    _engines: Mapping[str, str] = field(default_factory=dict)  # by build
    _spreads: dict[Kind, Spread | None] = field(default_factory=dict)

    def spread(self, point: Point, again: bool) -> Spread | None:
        kind = _kind(point.runs[0], again, self._engines)
        if kind not in self._spreads:
            self._spreads[kind] = _spread(self._groups.get(kind, ()))
        return self._spreads[kind]

    def floor(self, point: Point, base: Point, again: bool) -> float | None:
        """What equal arms with so many loads stay within, 19 times in 20: 0.013 is 1.3 %."""
        variances, freedoms = [], []
        for side in (point, base):
            spread, figures = self.spread(side, again), _figures(side, again)
            if spread is None or not figures:
                return None
            variances.append(spread.deviation**2 / figures)
            freedoms.append(spread.freedom)
        return exp(special("stdtrit", min(freedoms), (1 + SURE) / 2) * math.sqrt(sum(variances))) - 1


def floors(runs: Iterable[Run], past: Iterable[PastFigure], hosts: Iterable[str], engines: Mapping[str, str]) -> Floors:
    """`hosts`: the names of those that these runs were measured on; `engines`: by build."""
    measured, names = [run for run in runs if run.measured and run.same_as is None], set(hosts)
    builds = {run.place: run.build_id for run in measured}
    older = [figure for figure in past if figure.host in names and figure.place in builds]
    figures = list(_older_figures(older, {place: engines.get(build, "") for place, build in builds.items()}))
    newest = _newest_figures(measured, {figure.cell: figure.restored for figure in older}, engines)
    return Floors(_groups((*figures, *newest)), engines)


class _Figure(NamedTuple):
    """Figures of one `age` were measured together: 0 is the newest result of each stage."""

    age: int
    cell: str
    load: int
    run: int
    kind: Kind
    log: float


def _kind(run: Run, again: bool, engines: Mapping[str, str]) -> Kind:
    return again, run.step, run.kind, engines.get(run.build_id, "")


def _groups(figures: Iterable[_Figure]) -> Mapping[Kind, Sequence[Residual]]:
    """Of figures that only chance and their blocks tell apart: runs and results of one load, and loads of one cell."""
    tables: dict[tuple[Kind, object], dict[str, dict[object, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for each in figures:
        tables[each.kind, ("runs", each.load)][each.cell][each.run, each.age].append(each.log)
        tables[(False, *each.kind[1:]), ("loads", each.age)][each.cell][each.load].append(each.log)
    groups: dict[Kind, list[Residual]] = defaultdict(list)
    for (kind, _), rows in tables.items():
        means = {cell: {block: fmean(logs) for block, logs in row.items()} for cell, row in rows.items()}
        groups[kind] += residuals(means)
    return groups


def _older_figures(past: Sequence[PastFigure], engines: Mapping[Place, str]) -> Iterator[_Figure]:
    newest_first = sorted(past, key=lambda each: each.attempt, reverse=True)
    for place, results in groupby(sorted(newest_first, key=lambda each: each.place), key=lambda each: each.place):
        for age, each in enumerate(results, 1):
            if each.qps > 0:
                kind = (each.restored, each.step, each.kind, engines[place])
                yield _Figure(age, each.cell, each.load, each.run, kind, math.log(each.qps))


def _newest_figures(runs: Sequence[Run], restored: Mapping[str, bool], engines: Mapping[str, str]) -> Iterator[_Figure]:
    """A cell is called as the history calls it, by its first stage. Runs of one load started from its database."""
    first: dict[tuple[object, ...], str] = {}
    for run in runs:
        cell = first.setdefault((run.cell, run.step, *run.labels.items()), f"{run.place[0]}/{run.place[1]}")
        if (qps := run.metrics.get(QPS, 0.0)) > 0:
            kind = _kind(run, restored.get(cell, True), engines)
            yield _Figure(0, cell, run.load, run.run, kind, math.log(qps))


def _spread(groups: Sequence[Residual]) -> Spread | None:
    """The median over the groups, so that one disturbed hour is no floor; of each, what shows so much half the time."""
    freedom = math.floor(sum(each.counted for each in groups) + 1e-9)
    if len(groups) < FEWEST_GROUPS or freedom < FEWEST:
        return None
    scaled = [each.squares / special("chdtri", each.freedom, 0.5) for each in groups]
    return Spread(math.sqrt(max(median(scaled), ROUNDED / 2)), freedom, len(groups))


def _figures(point: Point, again: bool) -> int:
    """That its mean is of: every run where they share their databases, else every load."""
    loads = point.values()
    return sum(map(len, loads.values())) if again else len(loads)
