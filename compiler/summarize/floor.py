"""How far apart equal things came out on this host: the noise floor, of each step, from all that was measured again.

Two kinds. `again`: a stage that started from one and the same database, as arms do that share their loads. Not again:
loads of one cell, and loads that were measured again, each with a database of its own, as arms have that share none.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, variance

from compiler.summarize.points import QPS, Point
from compiler.summarize.special import special
from compiler.summarize.tables import Past, Run

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

    _groups: Mapping[Kind, Sequence[Sequence[float]]] = field(default_factory=dict)
    _known: dict[Kind, Spread | None] = field(default_factory=dict)

    def spread(self, step: str, kind: str, again: bool) -> Spread | None:
        """Of the step itself, else of all steps of its kind."""
        return self._of((again, step, kind)) or self._of((again, "", kind))

    def _of(self, key: Kind) -> Spread | None:
        if key not in self._known:
            self._known[key] = _spread([each for each in self._groups.get(key, ()) if len(each) > 1])
        return self._known[key]

    def floor(self, point: Point, base: Point, again: bool) -> float | None:
        """What equal arms with so many loads stay within, 19 times in 20: 0.013 is 1.3 %."""
        found = self.spread(point.step, point.runs[0].kind, again)
        figures = [_figures(each, again) for each in (point, base)]
        if found is None or not all(figures):
            return None
        error = found.deviation * math.sqrt(sum(1 / each for each in figures))
        return math.expm1(special("stdtrit", found.freedom, (1 + SURE) / 2) * error)


def floors(runs: Iterable[Run], past: Iterable[Past], hosts: Iterable[str]) -> Floors:
    """`hosts`: the names of those that these runs were measured on; figures of others say nothing here."""
    known, own = set(hosts), [run for run in runs if run.measured and run.same_as is None]
    groups = list(_groups(own, [each for each in past if each.host in known]))
    found: dict[Kind, list[Sequence[float]]] = defaultdict(list)
    for (again, step, kind), figures in groups:
        found[again, step, kind].append(figures)
        found[again, "", kind].append(figures)
    return Floors(found)


def _groups(own: Sequence[Run], past: Sequence[Past]) -> Iterator[tuple[Kind, Sequence[float]]]:
    """Logarithms of figures that only chance tells apart."""
    results: dict[tuple[str, int, Kind], list[float]] = defaultdict(list)
    loads: dict[tuple[str, Kind], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell, load, key, figure in (*_past(past), *_own(own, {each.cell: each.restored for each in past})):
        results[cell, load, key].append(figure)
        loads[cell, (False, *key[1:])][load].append(figure)
    for (_, _, key), figures in results.items():
        yield key, figures
    for (_, key), by_load in loads.items():
        yield key, [fmean(figures) for figures in by_load.values()]


Figure = tuple[str, int, Kind, float]  # cell, load, …, logarithm


def _past(past: Sequence[Past]) -> Iterator[Figure]:
    for each in past:
        if each.qps > 0:
            yield each.cell, each.load, (each.restored, each.step, each.kind), math.log(each.qps)


def _own(runs: Sequence[Run], restored: Mapping[str, bool]) -> Iterator[Figure]:
    """A cell is called as the history calls it, by its first stage. Runs of one load started from its database."""
    first: dict[tuple[object, ...], str] = {}
    for run in runs:
        cell = first.setdefault((run.cell, run.step, *run.labels.items()), f"{run.place[0]}/{run.place[1]}")
        if (qps := run.metrics.get(QPS, 0.0)) > 0:
            yield cell, run.load, (restored.get(cell, True), run.step, run.kind), math.log(qps)


def _spread(groups: Sequence[Sequence[float]]) -> Spread | None:
    """The median over the groups, so that one disturbed hour is no floor; of each, what shows so much half the time."""
    freedoms = [len(each) - 1 for each in groups]
    if len(groups) < FEWEST_GROUPS or sum(freedoms) < FEWEST:
        return None
    scaled = [variance(each) * (len(each) - 1) / special("chdtri", len(each) - 1, 0.5) for each in groups]
    return Spread(math.sqrt(median(scaled)), sum(freedoms), len(groups))


def _figures(point: Point, again: bool) -> int:
    """That its mean is of: every run where they share their databases, else every load."""
    loads = point.values()
    return sum(map(len, loads.values())) if again else len(loads)
