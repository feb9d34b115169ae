"""The noise floor: how far apart equal things came out on this host, of each step, from all that was measured again.

Two kinds. `again`: a stage that started from one and the same database, as arms do that share their loads. Not again:
loads of one cell, and loads that were measured again, each with a database of its own, as arms have that share none.
Of both, what a block has in common is taken out first, as it is out of a ratio whose loads are paired.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean, median
from typing import NamedTuple

from stepgrid.summarize.comparisons.block_effects import Residual, residuals
from stepgrid.summarize.data.measurements import QPS, Point
from stepgrid.summarize.data.parquet_reader import PastFigure, Place, Run
from stepgrid.summarize.statistics.confidence_intervals import PastVariance
from stepgrid.summarize.statistics.scipy_functions import special
from stepgrid.summarize.statistics.variance import FLOOR as ROUNDED

SURE = 0.95
FEWEST_GROUPS, FEWEST = 3, 6  # groups of equal things; degrees of freedom in all
Kind = tuple[bool, str, str]  # again, step, kind of the step


@dataclass(frozen=True, slots=True)
class Spread:
    deviation: float  # of the logarithm of one figure
    freedom: int
    groups: int


@dataclass(frozen=True, slots=True)
class Floors:
    """Of groups of equal things; worked out when something is compared."""

    _groups: Mapping[Kind, Sequence[Residual]] = field(default_factory=dict)
    _past: Mapping[Kind, Sequence[Residual]] = field(default_factory=dict)  # of older results alone
    _known: dict[Kind, Spread | None] = field(default_factory=dict)

    def spread(self, step: str, kind: str, again: bool) -> Spread | None:
        """Of the step itself, else of all steps of its kind."""
        return self._of((again, step, kind)) or self._of((again, "", kind))

    def _of(self, key: Kind) -> Spread | None:
        if key not in self._known:
            self._known[key] = _spread(self._groups.get(key, ()))
        return self._known[key]

    def history(self, point: Point, again: bool) -> PastVariance | None:
        """Of the ratio of two loads, as older results of the step show it."""
        found = _spread(self._past.get((again, point.step, point.runs[0].kind), ()))
        return PastVariance(2 * found.deviation**2, found.freedom) if found else None

    def floor(self, point: Point, base: Point, again: bool) -> float | None:
        """What equal arms with so many loads stay within, 19 times in 20: 0.013 is 1.3 %."""
        found = self.spread(point.step, point.runs[0].kind, again)
        figures = [_figures(each, again) for each in (point, base)]
        if found is None or not all(figures):
            return None
        error = found.deviation * math.sqrt(sum(1 / each for each in figures))
        return math.expm1(special("stdtrit", found.freedom, (1 + SURE) / 2) * error)


def floors(runs: Iterable[Run], past: Iterable[PastFigure], hosts: Iterable[str]) -> Floors:
    """`hosts`: the names of those that these runs were measured on; figures of others say nothing here."""
    known, own = set(hosts), [run for run in runs if run.measured and run.same_as is None]
    here = [each for each in past if each.host in known]
    return Floors(_by_kind(own, here), _by_kind((), here))


def _by_kind(own: Sequence[Run], past: Sequence[PastFigure]) -> Mapping[Kind, Sequence[Residual]]:
    """Of each step, and of all steps of its kind."""
    found: dict[Kind, list[Residual]] = defaultdict(list)
    for (again, step, kind), groups in _groups(own, past):
        found[again, step, kind] += groups
        found[again, "", kind] += groups
    return found


class _Figure(NamedTuple):
    """Runs that were measured together have the same plan and `age`: 0 is the newest result of each stage."""

    plan: str
    age: int
    cell: str
    load: int
    run: int
    kind: Kind
    log: float


def _groups(own: Sequence[Run], past: Sequence[PastFigure]) -> Iterator[tuple[Kind, list[Residual]]]:
    """Of figures that only chance and their blocks tell apart: runs and results of one load, and loads of one cell."""
    tables: dict[tuple[Kind, object], dict[str, dict[object, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for each in (*_past(past, {run.place for run in own}), *_own(own, {each.cell: each.restored for each in past})):
        tables[each.kind, ("runs", each.plan, each.load)][each.cell][each.run, each.age].append(each.log)
        tables[(False, *each.kind[1:]), ("loads", each.plan, each.age)][each.cell][each.load].append(each.log)
    for (kind, _), rows in tables.items():
        means = {cell: {block: fmean(logs) for block, logs in row.items()} for cell, row in rows.items()}
        yield kind, residuals(means)


def _past(past: Sequence[PastFigure], own: set[Place]) -> Iterator[_Figure]:
    """Results of stages of this plan are older than those that its tables have."""
    newest_first = sorted(past, key=lambda each: each.attempt, reverse=True)
    for place, results in groupby(sorted(newest_first, key=lambda each: each.place), key=lambda each: each.place):
        for age, each in enumerate(results, int(place in own)):
            if each.qps > 0:
                kind = (each.restored, each.step, each.kind)
                plan = "" if place in own else each.plan
                yield _Figure(plan, age, each.cell, each.load, each.run, kind, math.log(each.qps))


def _own(runs: Sequence[Run], restored: Mapping[str, bool]) -> Iterator[_Figure]:
    """A cell is called as the history calls it, by its first stage. Runs of one load started from its database."""
    first: dict[tuple[object, ...], str] = {}
    for run in runs:
        cell = first.setdefault((run.cell, run.step, *run.labels.items()), f"{run.place[0]}/{run.place[1]}")
        if (qps := run.metrics.get(QPS, 0.0)) > 0:
            kind = (restored.get(cell, True), run.step, run.kind)
            yield _Figure("", 0, cell, run.load, run.run, kind, math.log(qps))


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
