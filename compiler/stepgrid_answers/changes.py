"""Changes between an arm and its base that the loads show: of figures, of functions and counters of the engine.

They have the statistics of the verdicts: logarithms, paired by load. A counter whose interval holds 0 is no change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from statistics import fmean, median, stdev
from typing import TypeAlias

from msgspec import Struct

from stepgrid.collect.counts import OFF_CPU, SESSION_WAITS
from stepgrid.collect.step_figures import ENGINE
from stepgrid.host.sampling import RUNNING
from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.table import group
from stepgrid.plugins.collector import CLIENT, FUNCTIONS
from stepgrid.plugins.counters import counted, counters_of
from stepgrid.summarize.data.functions import Growth, function_times
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run, StepDetails
from stepgrid.summarize.statistics.confidence_intervals import CONFIDENCE, special

LEAST = 1.1  # times more or less: a smaller change is no cause
SHARE = 0.05  # of the time that an operation takes longer, or less long
MAINLY = 0.5  # of the change of all CPU: a function with more is a cause
ROUNDED = 0.0025  # figures are rounded: loads that agree to the digit do not show that there is no noise
Values: TypeAlias = Mapping[int, float]  # by load


class Change(Struct, frozen=True):
    """A figure of an arm and its base, means of the loads, and the interval of their difference."""

    arm: float
    base: float
    low: float = -math.inf
    high: float = math.inf

    @property
    def times(self) -> float:
        return self.arm / self.base if self.arm > 0 and self.base > 0 else math.inf

    @property
    def difference(self) -> float:
        return self.arm - self.base

    @property
    def is_shown(self) -> bool:
        """Tell whether the loads show that there is one."""
        return self.low > 0 or self.high < 0

    def times_as_large(self, factor: float) -> Change:
        return Change(*(factor * value for value in (self.arm, self.base, self.low, self.high)))

    def is_above(self, least: float) -> bool:
        """Decide if it is a change; `least`: a smaller difference is none, whatever it is a multiple of."""
        times = self.times if self.base else math.inf
        return self.is_shown and abs(self.difference) >= least and (times >= LEAST or times <= 1 / LEAST)


def change_of(arm: Values, base: Values, confidence: float = CONFIDENCE) -> Change | None:
    """Compare what both have. A twentieth of the larger median is added before the logarithm: figures may be 0."""
    if not arm or not base:
        return None
    figures = units.mean(arm.values()), units.mean(base.values())
    loads = sorted(arm.keys() & base.keys())
    shift = SHARE * max(abs(median(arm.values())), abs(median(base.values())))  # the mean is of the slowest load
    if len(loads) < 2 or not shift or min(*arm.values(), *base.values()) < 0:
        return Change(*figures)
    logs = [math.log(arm[load] + shift) - math.log(base[load] + shift) for load in loads]
    error = max(stdev(logs), ROUNDED) / math.sqrt(len(logs))
    reach = special("stdtrit", len(logs) - 1, (1 + confidence) / 2) * error
    centre = math.exp(fmean(math.log(base[load] + shift) for load in loads))
    ends = (centre * math.expm1(min(fmean(logs) + sign * reach, 700.0)) for sign in (-1, 1))
    return Change(*figures, *ends)


def values_by_load(point: Point, value: Callable[[Run], float | None]) -> Values:
    runs = group((run.load, number) for run in point.runs if (number := value(run)) is not None)
    return {load: units.mean(numbers) for load, numbers in runs.items()}


def change_text(change: Change, unit: str = "") -> str:
    return f"{units.figure(change.base, unit)} → {units.figure(change.arm, unit)}"


# Functions and counters of the engine that moved most, per operation

MOST_COUNTERS = 3  # of functions, and of counters
FUNCTION_UNIT = "µs of CPU per operation"
MOVED = 1.5  # times: a counter that moved less is not named
SMALL = 0.01  # of a counter per operation: smaller ones are taken for as much
ALIKE = 0.02  # counters whose ratios are so near to each other count one thing
HISTOGRAMS = frozenset({"count", "sum", "max", "min", "p50", "p75", "p95", "p99", "p99_9", "p100", "avg", "stddev"})


def counter_changes(growth: Growth, arm: Point, base: Point) -> list[str]:
    """Name the waits, functions and counters that moved most, of those whose difference the loads show."""
    waits = _strongest(function_changes(growth, arm, base, OFF_CPU))
    texts = [f"{text} \u00b5s of waiting per operation" for _, text in waits]
    return [*texts, *_functions(growth, arm, base), *_counters(growth, arm, base)]


def _functions(growth: Growth, arm: Point, base: Point) -> Iterator[str]:
    """Yield those that changed in the direction of all CPU, the strongest first, without the one that is a cause."""
    changes = function_changes(growth, arm, base)
    causes_already = main_functions(changes)
    yield from (f"{text} {FUNCTION_UNIT}" for name, text in _strongest(changes) if name not in causes_already)


def _strongest(changes: Mapping[str, Change]) -> Iterator[tuple[str, str]]:
    """Yield names, with their change, that changed in the direction of the sum, the strongest first."""
    arm, base = _sums(changes)
    sign = math.copysign(1.0, arm - base)
    for name, change in sorted(changes.items(), key=lambda item: -sign * item[1].difference)[:MOST_COUNTERS]:
        if change.is_shown and sign * change.difference >= SHARE * max(arm, base) > 0:
            yield name, f"`{name}` {change_text(change)}"


def main_functions(changes: Mapping[str, Change]) -> list[str]:
    """List the one with more than half of the change of all CPU, if that is a change."""
    arm, base = _sums(changes)
    sign = math.copysign(1.0, arm - base)
    least = max(MAINLY * abs(arm - base), SHARE * max(arm, base))
    return [name for name, change in changes.items() if change.is_shown and sign * change.difference > least > 0]


def function_changes(
    growth: Growth, arm: Point, base: Point, source: str = FUNCTIONS, confidence: float = CONFIDENCE
) -> dict[str, Change]:
    sides = [_per_operation(growth, point, source) for point in (arm, base)]
    if not all(sides):
        return {}
    names = sorted({*sides[0], *sides[1]} - {CLIENT, RUNNING})
    # a missing function took none
    zeros = [dict.fromkeys((load for loads in side.values() for load in loads), 0.0) for side in sides]
    arms, bases = (
        {name: {**none, **side.get(name, {})} for name in names} for none, side in zip(zeros, sides, strict=True)
    )
    changes = {name: change_of(arms[name], bases[name], confidence) for name in names}
    return {name: change for name, change in changes.items() if change}


def _sums(changes: Mapping[str, Change]) -> tuple[float, float]:
    return math.fsum(change.arm for change in changes.values()), math.fsum(change.base for change in changes.values())


def _counters(growth: Growth, arm: Point, base: Point) -> Iterator[str]:
    """Yield the first of those that move together; clocks and histograms are no counters."""
    arms, bases = (_per_operation(growth, point, ENGINE) for point in (arm, base))
    pairs = {name: change_of(arms[name], bases[name]) for name in sorted(arms.keys() & bases.keys())}
    changes = {name: change for name, change in pairs.items() if change}
    rate_arm, rate_base = (values_by_load(point, lambda run: run.metrics.get(QPS)) for point in (arm, base))
    rate = change_of(rate_arm, rate_base)
    logs = {name: math.log((change.arm + SMALL) / (change.base + SMALL)) for name, change in changes.items()}
    chosen: list[str] = []
    # a clock, or the work of others: as much in each second, whatever an operation takes
    clocks = {name for name, change in changes.items() if rate and 1 / 1.1 < change.times * rate.times < 1.1}
    for name in sorted(changes, key=lambda name: (-abs(logs[name]), len(name))):
        if abs(logs[name]) < math.log(MOVED) or len(chosen) == MOST_COUNTERS:
            return
        is_counter = name.rpartition(".")[2].lower() not in HISTOGRAMS and name not in clocks
        is_counter = is_counter and changes[name].is_shown
        if is_counter and all(abs(logs[name] - logs[other]) > ALIKE for other in chosen):
            chosen.append(name)
            yield f"`{name}` {change_text(changes[name])} per operation"


def _per_operation(growth: Growth, point: Point, source: str) -> dict[str, Values]:
    """Return values by name and load."""
    runs = []
    for run in point.runs:
        if source == FUNCTIONS and (times := function_times(growth, run)):
            runs.append((run.load, times))
            continue
        counts = growth.get(run.place, {}).get(source)
        operations = 1.0 if source == OFF_CPU else run.metrics.get("operations")
        if counts and operations:
            runs.append((run.load, {name: count / operations for name, count in counts.items()}))
    loads = group(runs)
    names = dict.fromkeys(name for _, counts in runs for name in counts)
    return {
        name: {load: fmean(counts.get(name, 0.0) for counts in members) for load, members in loads.items()}
        for name in names
    }


# An arm and its base

PerOperation: TypeAlias = Callable[[Mapping[str, float]], float | None]  # of the figures of a load
Figure: TypeAlias = str | PerOperation


class ArmPair:
    """An arm and its base by load, with what their engines counted and what is in their databases."""

    def __init__(
        self, arm: Point, base: Point, growth: Growth, details: StepDetails | None, confidence: float = CONFIDENCE
    ) -> None:
        self.arm, self.base, self.growth, self.details = arm, base, growth, details
        self.confidence = confidence
        self._loads = tuple(_by_load(point) for point in (arm, base))

    def change(self, figure: Figure) -> Change | None:
        def value(metrics: Mapping[str, float]) -> float | None:
            return metrics.get(figure) if isinstance(figure, str) else figure(metrics)

        arm, base = (
            {load: number for load, metrics in loads.items() if (number := value(metrics)) is not None}
            for loads in self._loads
        )
        return change_of(arm, base, self.confidence)

    def counted(self, role: str) -> Change | None:
        """Compare the sum of counters of the engine per operation."""

        def total(run: Run) -> float | None:
            counts, operations = self.growth.get(run.place, {}).get(ENGINE, {}), run.metrics.get("operations")
            amount = counted(counts, role)
            return amount / operations if amount is not None and operations else None

        arm, base = (values_by_load(point, total) for point in (self.arm, self.base))
        return change_of(arm, base, self.confidence)

    def counter_names(self, role: str) -> str:
        """Name the counters that the sum is of."""
        counts = (self.growth.get(run.place, {}).get(ENGINE, {}) for run in (*self.arm.runs, *self.base.runs))
        return ", ".join(dict.fromkeys(name for counters in counts for name in counters_of(role, counters)))

    @cached_property
    def sessions(self) -> Mapping[str, Change]:
        """Microseconds of a server's sessions per operation, by the event that they waited for."""
        return function_changes(self.growth, self.arm, self.base, SESSION_WAITS, self.confidence)

    @cached_property
    def time(self) -> Change | None:
        """Microseconds of an operation: of its client, or all that its threads did.

        Where others used the processors it may be undecided, and yet decided without what it waited for them."""
        time = self.change(_time)
        if time is None or time.is_shown:
            return time
        own_time = self.change(_own_time)
        return own_time if own_time and own_time.is_shown else time

    @cached_property
    def has_waits(self) -> bool:
        return self.change("run_delay_us_per_op") is not None

    def share(self, change: Change) -> tuple[float, float, float] | None:
        """Share of the time that an operation takes longer, with its interval; None where run delay is unknown."""
        time = self.time
        if time is None or not self.has_waits or not time.is_shown or not time.difference:
            return None
        share, *ends = (value / time.difference for value in (change.difference, change.low, change.high))
        return (share, min(ends), max(ends)) if share > 0 else None


def _by_load(point: Point) -> dict[int, Mapping[str, float]]:
    """Average the runs of a load."""
    runs = group((run.load, run.metrics) for run in point.runs if run.metrics)
    return {
        load: members[0]
        if len(members) == 1
        else {name: units.mean([run[name] for run in members if name in run]) for name in set().union(*members)}
        for load, members in runs.items()
    }


def _own_time(metrics: Mapping[str, float]) -> float | None:
    """Microseconds of an operation without those that its threads waited for a processor."""
    if not {"cpu_us_per_op", "run_delay_us_per_op"} <= metrics.keys():
        return None
    return math.fsum(metrics[name] for name in ("cpu_us_per_op", *SLEEPS) if name in metrics)


SLEEPS = tuple(f"{name}_wait_us_per_op" for name in ("disk", "lock", "timer", "peer", "other"))


def _time(metrics: Mapping[str, float]) -> float | None:
    for name in ("avg_us", "usec_per_op"):
        if name in metrics:
            return metrics[name]
    parts = [metrics[name] for name in ("cpu_us_per_op", "run_delay_us_per_op", *SLEEPS) if name in metrics]
    if "peer_wait_us_per_op" in metrics and parts:
        return math.fsum(parts)
    return 1e6 / metrics[QPS] if metrics.get(QPS) else None
