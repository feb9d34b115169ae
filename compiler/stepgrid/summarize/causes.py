"""Causes of a difference: what an arm used more or less of per operation than its base, ranked by what that costs.

Effects of a cause stand behind it: more misses of a cache mean more reads and more CPU, more waiting for each other
more context switches and more CPU.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from statistics import median
from typing import NamedTuple, TypeAlias

from stepgrid.collect.counts import OFF_CPU
from stepgrid.collect.step_figures import ENGINE
from stepgrid.host.counters import KIB
from stepgrid.host.sampling import RUNNING
from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import BUILD
from stepgrid.model.table import MOST_ROWS, Table, group, word_table
from stepgrid.model.units import counted
from stepgrid.plugins.collector import CLIENT, FUNCTIONS
from stepgrid.summarize.comparisons.comparison import Case, Comparison
from stepgrid.summarize.data.functions import Growth, function_times
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import StepDetails
from stepgrid.summarize.setup import Facts, Setup

MOST_CAUSES = 3
MOST_TEXT = 100  # characters of a statement that are shown
DASH = "\u2013"  # between the ends of a range
MOST_DEFAULTS = 2  # defaults that are named: of more each alone is no cause
NO_CAUSE = "no cause among CPU, device, context switches, misses and stalls"
NO_OPERATIONS = "CPU and device per operation are unknown: the step has no metric `operations`"
LEAST = 1.1  # times more or less: a smaller change is no cause
SHARE = 0.05  # of the time that an operation takes longer, or less long
SWITCH = 5.0  # microseconds that a context switch costs, with the caches that it leaves cold
MISS = 100.0  # microseconds that a miss of a server's cache costs at most: a read of a flash device
SYNCED = 10.0  # times more writes of the device, and one for every tenth operation
CONTENTION, MISSES = 1.5, 1.0  # times more context switches; percentage points more misses
PRESSURE = 10.0  # percentage points of the time
MAINLY = 0.5  # of that time: less is no cause
WHOLE = 0.995  # of the time: shares above are "all of the time"
IDLE = 10.0  # percent of the host's CPU: with less of it operations wait for a processor
OWN_BYTES = {
    "read": ("process_read_bytes", "server_read_bytes"),
    "write": ("process_write_bytes", "server_write_bytes"),
}


class Change(NamedTuple):
    """A figure of an arm and its base, medians of the loads."""

    arm: float
    base: float

    @property
    def times(self) -> float:
        return self.arm / self.base if self.arm > 0 and self.base > 0 else math.inf

    @property
    def difference(self) -> float:
        return self.arm - self.base

    def is_above(self, least: float) -> bool:
        """Decide if it is a change; `least`: a smaller difference is none, whatever it is a multiple of."""
        times = self.times if self.base else math.inf
        return abs(self.difference) >= least and (times >= LEAST or times <= 1 / LEAST)


@dataclass(frozen=True, slots=True)
class Cause:
    name: str
    change: Change
    unit: str
    microseconds: float  # per operation that it costs more; below 0 it saves
    is_first: bool = False  # others follow from it
    is_wait: bool = False  # the operation is off the processors meanwhile
    share: float | None = None  # of the time that an operation takes longer

    @property
    def text(self) -> str:
        """CPU 5 → 38 (7.60×) µs per operation, 55 % of the time"""
        times = f" ({units.times(self.change.times)})" if math.isfinite(self.change.times) else ""
        if self.unit == "%":
            return f"{self.name} {self.change.base:.3g} % → {self.change.arm:.3g} %"
        text = f"{self.name} {units.figure(self.change.base)} → {units.figure(self.change.arm)}{times} {self.unit}"
        if self.share is None:
            return text
        return f"{text}, {units.percent(round(self.share, 2)) if self.share < WHOLE else 'all'} of the time"


def causes(arm: Point, base: Point, growth: Growth | None = None) -> list[Cause]:
    """List causes that go the way of the difference, the strongest first; `growth` has the functions of a profile."""
    pair = _Pair(arm, base, growth or {})
    rate, longer = pair.change(QPS), pair.change("avg_us")
    if rate is None or rate.arm == rate.base:
        return []
    sign = 1 if rate.arm < rate.base else -1
    measured = [cause for kind in _KINDS for cause in kind(pair)]
    strong = [cause for cause in (*measured, *_waits(pair, measured)) if cause.microseconds * sign > 0]
    least = SHARE * abs(longer.difference if longer else 0.0)
    strong = [cause for cause in strong if cause.is_first or abs(cause.microseconds) >= least]
    ranked = sorted(strong, key=lambda cause: (not cause.is_first, -abs(cause.microseconds)))
    time = longer.difference if longer else 0.0
    shares = [cause.microseconds / time if time and not cause.is_first else 0.0 for cause in ranked]
    return [
        replace(cause, share=share if share > 0 else None)
        for cause, share in zip(ranked[:MOST_CAUSES], shares, strict=False)
    ]


def why(comparison: Comparison, case: Case, setup: Setup, growth: Growth | None = None) -> list[str]:
    """Explain a difference. Plans, and few changes of the builds, come first: the figures follow from them.

    A changed plan is told of any ratio."""
    plans = plan_changes(setup, case.point, case.base)
    if not case.entry.is_difference:
        return plans
    build = setup.builds.get(case.point.runs[0].build_id) if BUILD in comparison.layout.base else None
    changes = [*plans, *(f"patch {name}" for name in (build.patches if build else ()))]
    defaults = default_changes(comparison, case.point, setup)
    texts = [cause.text for cause in causes(case.point, case.base, growth)]
    if len(defaults) <= MOST_DEFAULTS:
        return [*changes, *defaults, *texts]
    return [*changes, *texts, f"{counted(len(defaults), 'default')} of the builds differ"]


def plan_changes(setup: Setup, arm: Point, base: Point) -> list[str]:
    """List statements whose query plans differ. Engines have words of their own for plans: only those of one do."""
    engine, base_engine = (setup.engines.get(point.runs[0].build_id) for point in (arm, base))
    if engine != base_engine:
        return []
    arms, bases = (_plans(setup.plans, point) for point in (arm, base))
    changes = [
        (statement, f"plan changed: {' or '.join(bases[statement])} → {' or '.join(arms[statement])}")
        for statement in bases.keys() & arms.keys()
        if set(bases[statement]) != set(arms[statement])
    ]
    several = len(bases) > 1
    return [f"{text} in `{statement[:MOST_TEXT]}`" if several else text for statement, text in sorted(changes)]


def _plans(plans: Facts, point: Point) -> dict[str, list[str]]:
    """List the plans of each statement over the loads."""
    by_statement = group(
        pair for run in point.runs for pair in plans.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}", {}).items()
    )
    return {statement: sorted(set(texts)) for statement, texts in by_statement.items()}


def default_changes(comparison: Comparison, arm: Point, setup: Setup) -> list[str]:
    """List defaults of options that the spec leaves to the builds, where these are compared with the base's."""
    if not setup.defaults or comparison.layout.base.get(BUILD) != setup.defaults.base:
        return []
    return [f"default {change}" for change in setup.defaults.changes(arm.runs[0].build)]


def why_table(comparison: Comparison, setup: Setup, details: StepDetails, most: int | None = None) -> Table | None:
    """Tabulate differences, the largest first; the first ones have functions and counters of the engine, too."""
    differences = [
        case
        for case in comparison.cases()
        if case.entry.ratio and (case.entry.is_difference or plan_changes(setup, case.point, case.base))
    ]
    differences.sort(key=lambda case: -abs(math.log(case.entry.ratio or 1.0)))
    if not differences:
        return None
    title = f"why: differences from {comparison.base}"
    points = [point for case in differences[:MOST_ROWS] for point in (case.point, case.base)]
    growth = details.counters({run.place for point in points for run in point.runs})
    rows = []
    for case in differences[:most]:
        texts = why(comparison, case, setup, growth) or [
            NO_CAUSE if _counts_operations(case.point, case.base) else NO_OPERATIONS
        ]
        texts += counter_changes(growth, case.point, case.base)
        labels = (label or "-" for label in case.row.labels)
        ratio = units.times(case.entry.ratio or 1.0)
        rows.append((case.row.step, *labels, comparison.arm_name(case.arm), ratio, "; ".join(texts)))
    omitted = len(differences) - len(rows)
    notes = (f'and {counted(omitted, "difference")} more: `--table "{title}"`',) if omitted else ()
    return word_table(title, ("step", *comparison.layout.down, "arm", "ratio", "why"), rows, notes)


# Causes of an arm over all builds and points


@dataclass(frozen=True, slots=True)
class ArmCause:
    """A cause with its range over the points of an arm."""

    arm: str
    name: str
    unit: str = ""
    base: tuple[float, float] | None = None  # None: the name says all
    values: tuple[float, float] = (0.0, 0.0)

    @property
    def text(self) -> str:
        """block cache misses 0.2 → 51 %"""
        if self.base is None:
            return self.name
        return f"{self.name} {_range(self.base)} → {_range(self.values)} {self.unit}"


Pair: TypeAlias = tuple[Point, Point]  # of arm and base
Changes: TypeAlias = Callable[[Point, Point], Iterable[str]]


def causes_by_arm(
    arms: Iterable[tuple[str, Sequence[Pair]]], changes: Changes, growth: Growth | None = None
) -> list[ArmCause]:
    """List at most three causes of each arm, those that matter at most points first, after what `changes` says."""
    return [cause for name, pairs in arms for cause in _arm_causes(name, pairs, changes, growth)]


def chain_text(causes: Sequence[ArmCause]) -> str:
    """Join arms in one line: `block cache misses 0.2 → 51 → 90 %`."""
    by_name = group(((cause.name, cause.unit), cause) for cause in causes)
    most = max(map(len, by_name.values()), default=0)
    texts = []
    for (name, unit), arms in by_name.items():
        if arms[0].base is None:
            texts.append(name)
        elif len(arms) == most:
            bases = [arm.base for arm in arms if arm.base]
            base = min(low for low, _ in bases), max(high for _, high in bases)
            texts.append(f"{name} {' → '.join(map(_range, (base, *(arm.values for arm in arms))))} {unit}")
    return "; ".join(texts[:MOST_CAUSES])


def _arm_causes(arm: str, pairs: Sequence[Pair], changes: Changes, growth: Growth | None) -> list[ArmCause]:
    by_name = group(
        ((cause.name, cause.unit), (rank, cause))
        for arm_point, base_point in pairs
        for rank, cause in enumerate(causes(arm_point, base_point, growth))
    )
    counts = Counter(text for point, base in pairs for text in changes(point, base))
    arm_causes = [ArmCause(arm, text) for text, _ in counts.most_common(1)]
    if pairs and not arm_causes and not by_name and not any(starmap(_counts_operations, pairs)):
        return [ArmCause(arm, NO_OPERATIONS)]
    weights = {key: sum(MOST_CAUSES - rank for rank, _ in members) for key, members in by_name.items()}
    for key in sorted(by_name, key=lambda key: -weights[key])[: MOST_CAUSES - len(arm_causes)]:
        bases, values = ([cause.change[side] for _, cause in by_name[key]] for side in (1, 0))
        arm_causes.append(ArmCause(arm, *key, (min(bases), max(bases)), (min(values), max(values))))
    return arm_causes


def _counts_operations(arm: Point, base: Point) -> bool:
    return all(_figure(point, "operations") is not None for point in (arm, base))


def _range(ends: tuple[float, float]) -> str:
    """Two digits are as many as a range deserves."""
    return DASH.join(dict.fromkeys(f"{end:,.0f}" if abs(end) >= 10 else f"{end:.2g}" for end in ends))


# Kinds of causes


@dataclass(frozen=True, slots=True)
class _Pair:
    arm: Point
    base: Point
    growth: Growth = field(default_factory=dict)

    def change(self, metric: str, figure: Callable[[Point, str], float | None] | None = None) -> Change | None:
        arm, base = ((figure or _figure)(point, metric) for point in (self.arm, self.base))
        return None if arm is None or base is None else Change(arm, base)

    @property
    def slower(self) -> Point:
        rate = self.change(QPS)
        return self.base if rate and rate.difference > 0 else self.arm


def _figure(point: Point, metric: str) -> float | None:
    spread = point.spread(metric)
    return spread[0] if spread else None


def _stalls(pair: _Pair) -> Iterator[Cause]:
    stalls, rate = pair.change("stall_pct"), pair.change(QPS)
    if stalls and rate and stalls.is_above(1.0):
        cost = (stalls.arm / rate.arm - stalls.base / rate.base) * 1e4
        yield Cause("write stalls", stalls, "% of the time", cost, is_first=True)


def _misses(pair: _Pair) -> Iterator[Cause]:
    if hits := pair.change("block_cache_hit_pct"):
        misses = Change(100 - hits.arm, 100 - hits.base)
        if abs(misses.difference) >= MISSES and max(misses) > LEAST * min(misses):
            yield Cause("block cache misses", misses, "%", misses.difference, is_first=True)
    pages, longer = pair.change("cache_misses_per_op"), pair.change("avg_us")
    least = SHARE * abs(longer.difference) / MISS if longer else 0.0
    if pages and pages.is_above(max(0.001, least)):
        yield Cause("cache misses", pages, "per operation", pages.difference, is_first=True)


def _contention(pair: _Pair) -> Iterator[Cause]:
    """Compare the whole host: with no more switches by the second, others switch while an operation takes longer."""
    switches, rate = pair.change("context_switches_per_op"), pair.change("context_switches_per_s")
    if switches is None or not switches.is_above(0.01):
        return
    if rate is None or (rate.is_above(1.0) and rate.difference * switches.difference > 0):
        is_first = max(switches.times, 1 / switches.times) >= CONTENTION and abs(switches.difference) >= 0.1
        is_first = is_first and not _is_synced(pair)
        yield Cause("context switches", switches, "per operation", SWITCH * switches.difference, is_first)


def _device(pair: _Pair) -> Iterator[Cause]:
    """Compare what the requests of an operation wait: more of them, or each longer."""
    for word in ("read", "write"):
        requests, await_ms = pair.change(word, _own_requests), pair.change(f"device_{word}_await_ms")
        if requests and await_ms:
            cost = 1000 * (requests.arm * await_ms.arm - requests.base * await_ms.base)
            if await_ms.times > requests.times and await_ms.is_above(0.05):
                yield Cause(f"each {word} of the device waits", await_ms, "ms", cost, is_wait=True)
            elif requests.is_above(0.001):
                is_first = word == "write" and _is_synced(pair)
                yield Cause(f"device {word}s", requests, "per operation", cost, is_first, is_wait=True)


def _is_synced(pair: _Pair) -> bool:
    """Tell commits that wait for the device from those that do not: switches and CPU of the kernel follow from it."""
    writes = pair.change("write", _own_requests)
    return writes is not None and writes.is_above(0.1) and not 1 / SYNCED < writes.times < SYNCED


def _own_requests(point: Point, word: str) -> float | None:
    """Count reads or writes of the device per operation, by the share of its bytes that the step's processes caused."""
    requests, kib, operations = (
        _figure(point, metric) for metric in (f"{word}s_per_op", f"{word}_kb_per_op", "operations")
    )
    own_bytes = [value for metric in OWN_BYTES[word] if (value := _figure(point, metric)) is not None]
    if requests is None or not own_bytes or not operations or not kib:
        return requests
    return requests * min(1.0, sum(own_bytes) / operations / (kib * KIB))


def _cpu(pair: _Pair) -> Iterator[Cause]:
    """Compare client and server where they are told apart, with the wait for a processor where none is idle."""
    names = {"client CPU": "client_cpu_us_per_op", "server CPU": "server_cpu_us_per_op"}
    parts = {name: change for name, metric in names.items() if (change := pair.change(metric))}
    if len(parts) < len(names):
        parts = {"CPU": change} if (change := pair.change("cpu_us_per_op")) else {}
    for name, change in parts.items():
        if change.is_above(0.01):
            cost = change.arm * _crowding(pair.arm) - change.base * _crowding(pair.base)
            yield Cause(name, change, "µs per operation", cost)


def _function(pair: _Pair) -> Iterator[Cause]:
    """Name the function in which most of the CPU is that the arm takes more, or less."""
    changes = _function_changes(pair.growth, pair.arm, pair.base)
    for name in _main_functions(changes):
        cost = changes[name].arm * _crowding(pair.arm) - changes[name].base * _crowding(pair.base)
        yield Cause(f"`{name}`", changes[name], FUNCTION_UNIT, cost, is_first=True)


def _crowding(point: Point) -> float:
    """Compute how much longer than its CPU an operation takes because clients wait for processors."""
    idle, time, cpu = (_figure(point, metric) for metric in ("host_cpu_idle_pct", "avg_us", "cpu_us_per_op"))
    return max(1.0, time / cpu) if idle is not None and time and cpu and idle < IDLE else 1.0


def _waits(pair: _Pair, measured: Sequence[Cause]) -> Iterator[Cause]:
    """Compare what the device does not account for: a limit of a container, and what nobody counts."""
    waited = sum(cause.microseconds for cause in measured if cause.is_wait)
    time, cpu, pressure = (pair.change(metric) for metric in ("avg_us", "cpu_us_per_op", "pressure_io_pct"))
    slower_time, idle = (_figure(pair.slower, metric) for metric in ("avg_us", "host_cpu_idle_pct"))
    if pressure and slower_time and abs(pressure.difference) >= PRESSURE:
        cost = slower_time * pressure.difference / 100
        if abs(waited) < abs(cost) / 2:
            yield Cause("some task waits for IO", pressure, "% of the time", cost - waited, is_wait=True)
            waited = cost
    if time and cpu and idle is not None and idle >= IDLE:  # where no processor is idle, it is the wait for one
        off = Change(max(0.0, time.arm - cpu.arm), max(0.0, time.base - cpu.base))
        if off.is_above(0.01) and abs(off.difference - waited) > MAINLY * abs(time.difference):
            yield Cause("off the processors", off, "µs per operation", off.difference - waited)


_KINDS: tuple[Callable[[_Pair], Iterator[Cause]], ...] = (_stalls, _misses, _contention, _device, _cpu, _function)


# Functions and counters of the engine that moved most, per operation

MOST_COUNTERS = 3  # of functions, and of counters
FUNCTION_UNIT = "µs of CPU per operation"
TIMES = 1.5  # a counter that moved less is not named
SMALL = 0.01  # of a counter per operation: smaller ones are taken for as much
ALIKE = 0.02  # counters whose ratios are so near to each other count one thing
HISTOGRAMS = frozenset({"count", "sum", "max", "min", "p50", "p75", "p95", "p99", "p99_9", "p100", "avg", "stddev"})


def counter_changes(growth: Growth, arm: Point, base: Point) -> list[str]:
    waits = _strongest(_function_changes(growth, arm, base, OFF_CPU))
    texts = [f"{text} \u00b5s of waiting per operation" for _, text in waits]
    return [*texts, *_functions(growth, arm, base), *_counters(growth, arm, base)]


def _functions(growth: Growth, arm: Point, base: Point) -> Iterator[str]:
    """Yield those that changed in the direction of all CPU, the strongest first, without the one that is a cause."""
    changes = _function_changes(growth, arm, base)
    causes_already = _main_functions(changes)
    yield from (f"{text} {FUNCTION_UNIT}" for name, text in _strongest(changes) if name not in causes_already)


def _strongest(changes: Mapping[str, Change]) -> Iterator[tuple[str, str]]:
    """Yield names, with their change, that changed in the direction of the sum, the strongest first."""
    total = _sum_change(changes)
    sign = math.copysign(1.0, total.difference)
    for name, change in sorted(changes.items(), key=lambda item: -sign * item[1].difference)[:MOST_COUNTERS]:
        if sign * change.difference >= SHARE * max(total) > 0:
            yield name, f"`{name}` {_change_text(change)}"


def _main_functions(changes: Mapping[str, Change]) -> list[str]:
    """List the one with more than half of the change of all CPU, if that is a change."""
    total = _sum_change(changes)
    sign = math.copysign(1.0, total.difference)
    least = max(MAINLY * abs(total.difference), SHARE * max(total))
    return [name for name, change in changes.items() if sign * change.difference > least > 0]


def _function_changes(growth: Growth, arm: Point, base: Point, source: str = FUNCTIONS) -> dict[str, Change]:
    arms, bases = (_per_operation(growth, point, source) for point in (arm, base))  # a missing one took none
    names = sorted((arms.keys() | bases.keys()) - {CLIENT, RUNNING}) if arms and bases else []
    return {name: Change(arms.get(name, 0.0), bases.get(name, 0.0)) for name in names}


def _sum_change(changes: Mapping[str, Change]) -> Change:
    return Change(*(math.fsum(change[side] for change in changes.values()) for side in (0, 1)))


def _counters(growth: Growth, arm: Point, base: Point) -> Iterator[str]:
    """Yield the first of those that move together; clocks and histograms are no counters."""
    arms, bases = (_per_operation(growth, point, ENGINE) for point in (arm, base))
    changes = {name: Change(arms[name], bases[name]) for name in sorted(arms.keys() & bases.keys())}
    rate = _Pair(arm, base).change(QPS)
    logs = {name: math.log((change.arm + SMALL) / (change.base + SMALL)) for name, change in changes.items()}
    chosen: list[str] = []
    # a clock, or the work of others: as much in each second, whatever an operation takes
    clocks = {name for name, change in changes.items() if rate and 1 / 1.1 < change.times * rate.times < 1.1}
    for name in sorted(changes, key=lambda name: (-abs(logs[name]), len(name))):
        if abs(logs[name]) < math.log(TIMES) or len(chosen) == MOST_COUNTERS:
            return
        is_counter = name.rpartition(".")[2].lower() not in HISTOGRAMS and name not in clocks
        if is_counter and all(abs(logs[name] - logs[other]) > ALIKE for other in chosen):
            chosen.append(name)
            yield f"`{name}` {_change_text(changes[name])} per operation"


def _per_operation(growth: Growth, point: Point, source: str) -> dict[str, float]:
    """Compute medians of the runs."""
    runs = []
    for run in point.runs:
        if source == FUNCTIONS and (times := function_times(growth, run)):
            runs.append(times)
            continue
        counts = growth.get(run.place, {}).get(source)
        operations = 1.0 if source == OFF_CPU else run.metrics.get("operations")
        if counts and operations:
            runs.append({name: count / operations for name, count in counts.items()})
    return {name: median(run.get(name, 0.0) for run in runs) for name in {name for run in runs for name in run}}


def _change_text(change: Change) -> str:
    return f"{units.figure(change.base)} → {units.figure(change.arm)}"
