"""Which functions and counters of the engine moved most, per operation, between an arm and its base."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from stepgrid.collect.step_figures import ENGINE
from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.summarize.comparisons.resource_use import Used
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.data.tables_reader import FUNCTIONS

MOST_COUNTERS = 3  # of functions, and of counters, that are named
TIMES = 1.5  # a counter that moved less is not named
SMALL = 0.01  # of a counter per operation: what is below it counts as little
ALIKE = 0.02  # counters whose ratios are so near to each other count one thing
LEAST = 0.05  # of the CPU of an operation that a function takes more
HISTOGRAMS = frozenset({"count", "sum", "max", "min", "p50", "p75", "p95", "p99", "p99_9", "p100", "avg", "stddev"})
Said = Mapping[Place, Mapping[str, Mapping[str, float]]]


@dataclass(frozen=True, slots=True)
class CounterChanges:
    """Of all counters of the steps that are compared."""

    said: Said

    def of(self, arm: Point, base: Point) -> list[str]:
        return [*self._functions(arm, base), *self._counters(arm, base)]

    def _functions(self, arm: Point, base: Point) -> Iterator[str]:
        """In the direction of the CPU's change, the strongest first."""
        found = self._used(arm, base, FUNCTIONS)
        whole = Used(sum(each.arm for each in found.values()), sum(each.base for each in found.values()))
        sign = math.copysign(1.0, whole.more)
        least = LEAST * max(whole, default=0.0)
        ranked = sorted(found.items(), key=lambda item: -sign * item[1].more)
        for name, each in ranked[:MOST_COUNTERS]:
            if sign * each.more >= least > 0:
                yield f"`{name}` {_change(each)} µs of CPU per operation"

    def _counters(self, arm: Point, base: Point) -> Iterator[str]:
        rate = Used(fmean(_all(arm, QPS)), fmean(_all(base, QPS)))
        found = {
            name: each
            for name, each in self._used(arm, base, ENGINE).items()
            if name.rpartition(".")[2].lower() not in HISTOGRAMS and not _by_time(each, rate)
        }
        for name, each in _unlike(sorted(found.items(), key=lambda item: (-abs(_moved(item[1])), len(item[0])))):
            yield f"`{name}` {_change(each)} per operation"

    def _used(self, arm: Point, base: Point, source: str) -> dict[str, Used]:
        """Per operation, medians of the runs; a function that was not met took none."""
        sides = [self._per_operation(point, source) for point in (arm, base)]
        names = sides[0].keys() | sides[1].keys() if all(sides) else set()
        if source == ENGINE:
            names = sides[0].keys() & sides[1].keys()
        return {name: Used(sides[0].get(name, 0.0), sides[1].get(name, 0.0)) for name in sorted(names)}

    def _per_operation(self, point: Point, source: str) -> dict[str, float]:
        every = self._runs(point, source)
        runs = [{name: value / operations for name, value in said.items()} for operations, said in every]
        names = {name for run in runs for name in run}
        return {name: median(run.get(name, 0.0) for run in runs) for name in names}

    def _runs(self, point: Point, source: str) -> Iterator[tuple[float, Mapping[str, float]]]:
        for run in point.runs:
            said, operations = self.said.get(run.place, {}).get(source), run.metrics.get("operations")
            if said and operations:
                yield operations, said


def _all(point: Point, metric: str) -> list[float]:
    return [value for values in point.values(metric).values() for value in values]


def _moved(found: Used) -> float:
    return math.log((found.arm + SMALL) / (found.base + SMALL))


def _by_time(found: Used, rate: Used) -> bool:
    """A clock, or the work of others: as much in each second, whatever an operation takes."""
    return found.base > 0 and found.arm > 0 and abs(math.log(found.times * rate.times)) < math.log1p(0.1)


def _unlike(ranked: Sequence[tuple[str, Used]]) -> Iterator[tuple[str, Used]]:
    taken: list[float] = []
    for name, each in ranked:
        moved = _moved(each)
        if len(taken) == MOST_COUNTERS or abs(moved) < math.log(TIMES):
            return
        if all(abs(moved - other) > ALIKE for other in taken):
            taken.append(moved)
            yield name, each


def _change(found: Used) -> str:
    return f"{units.figure(found.base)} → {units.figure(found.arm)}"
