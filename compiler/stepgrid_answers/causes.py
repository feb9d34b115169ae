"""Causes of a difference: counters whose own difference the loads show, ranked by the time that they explain.

The time of an operation is CPU, waiting for a processor (the run delay of the step's own threads) and sleep: for a
disk, for other threads, by a timer, in sockets. Effects of a cause stand behind it: more misses of a cache mean more
reads and more CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec import Struct

from stepgrid.host.counters import KIB
from stepgrid.model import units
from stepgrid.model.figures import DATA_BYTES, INDEX_BYTES
from stepgrid.model.metrics import QPS
from stepgrid.model.records import replace
from stepgrid.plugins.counters import CACHE_HITS, ROW_LOCK_MS, SYNCS, SessionWait, wait_events
from stepgrid.summarize.comparisons.comparison import TIMES, ComparedMetric
from stepgrid.summarize.data.functions import Growth
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import StepDetails
from stepgrid_answers.changes import (
    FUNCTION_UNIT,
    MAINLY,
    SHARE,
    SLEEPS,
    ArmPair,
    Change,
    PerOperation,
    change_of,
    change_text,
    function_changes,
    main_functions,
)

MOST_CAUSES = 3
SWITCH = 5.0  # microseconds that a context switch costs, with the caches that it leaves cold
MISS = 100.0  # microseconds that a miss of a cache costs at most: a read of a flash device
COPY = 10.0  # microseconds of a miss that the kernel's cache has
FAULT = 0.5  # microseconds that a page fault costs at least
SYNCED = 10.0  # times more writes of the device, and one for every tenth operation
CONTENTION, MISSES = 1.5, 1.0  # times more context switches; percentage points more misses
REQUESTS = 100.0  # of a step: what fewer requests of a device wait says nothing
SMALLEST = 64.0 * KIB  # change of a size that is one
OWN_BYTES = {
    "read": ("process_read_bytes", "server_read_bytes"),
    "write": ("process_write_bytes", "server_write_bytes"),
}

# What is compared


class CauseSubject:
    """Families of metrics: each has causes of its own."""

    TIME, CPU, SIZE, OTHER = "time", "CPU", "size", "other"


NO_CAUSE: Mapping[str, str] = {
    CauseSubject.TIME: "no cause that the loads show among CPU, waits, misses, stalls and sizes",
    CauseSubject.CPU: "no cause that the loads show among CPU, page faults and misses",
    CauseSubject.SIZE: "no cause that the loads show among tables, indexes, files, levels and operations",
    CauseSubject.OTHER: "causes of this metric are not looked for",
}
_AMPLIFICATION = ("*amplification*", "*_amp", "*_bytes", "*bytes_per*", "*_kb_per_*")


def subject(metric: ComparedMetric) -> str:
    if metric.unit in TIMES or (metric.better == "higher" and metric.unit.endswith("/s")) or metric.name == QPS:
        return CauseSubject.TIME
    if metric.unit == "us/operation":
        return CauseSubject.CPU
    if metric.unit in ("B", "KiB", "MiB") or any(fnmatchcase(metric.name, pattern) for pattern in _AMPLIFICATION):
        return CauseSubject.SIZE
    return CauseSubject.OTHER


# Causes


class Cause(Struct, frozen=True):
    name: str
    change: Change
    unit: str
    effects: frozenset[str] = frozenset()  # what an option has to move to be behind it
    rank: int = 2  # the others of a higher rank follow from it
    details: tuple[str, ...] = ()
    cost: float | None = None  # microseconds per operation, of what is no time itself
    share: tuple[float, float, float] | None = None  # of the time that an operation takes longer, with its interval
    names: frozenset[str] = frozenset()  # of causes that say the same less exactly

    @property
    def text(self) -> str:
        """CPU 5 → 38 (7.60×) µs per operation, 55 % [50, 60] of the time"""
        if self.unit == "%":
            return f"{self.name} {self.change.base:.3g} % → {self.change.arm:.3g} %"
        times = f" ({units.times(self.change.times)})" if math.isfinite(self.change.times) else ""
        details = f" ({', '.join(self.details)})" if self.details else ""
        unit = "" if self.unit == "B" else f" {self.unit}"
        text = f"{self.name} {change_text(self.change, self.unit)}{times}{unit}{details}"
        if self.share is None:
            return text
        share, low, high = (f"{100 * part:.0f}" for part in self.share)
        return f"{text}, {share} % [{low}, {high}] of the time"


STRICT = 0.99  # confidence of what is said where no verdict says that there is a difference


def undecided_causes(
    arm: Point, base: Point, growth: Growth, metric: ComparedMetric, details: StepDetails | None
) -> list[Cause]:
    """List causes where a busy host voids the verdict: of its time, of its time without waiting for processors, or else
    work that the arm did more."""
    pair = ArmPair(arm, base, growth, details, STRICT)
    if subject(metric) != CauseSubject.TIME or pair.time is None:
        return []
    looks = (cause for look in _KINDS[CauseSubject.TIME] for cause in look(pair))
    strong = [cause for cause in looks if cause.change.is_shown and cause.rank < DELAY]  # others took the processors
    if not pair.time.is_shown:
        strong = [cause for cause in strong if cause.unit == PER_OPERATION and cause.change.difference > 0]
        return sorted(strong, key=lambda cause: cause.rank)[:MOST_CAUSES]
    return _strongest([cause for cause in strong if cause.change.difference * pair.time.difference > 0], pair)


def causes(
    arm: Point,
    base: Point,
    growth: Growth | None = None,
    metric: ComparedMetric | None = None,
    details: StepDetails | None = None,
) -> list[Cause]:
    """List causes that go the way of the difference, the strongest first.

    `growth`: counters of the engines, and functions of profiles."""
    metric, pair = metric or ComparedMetric(), ArmPair(arm, base, growth or {}, details)
    compared = pair.change(metric.name)
    if compared is None or compared.arm == compared.base:
        return []
    kind = subject(metric)
    is_rate = kind == CauseSubject.TIME and metric.unit not in TIMES
    sign = -1.0 if is_rate else 1.0
    sign *= math.copysign(1.0, compared.difference)
    strong = [
        cause
        for look in _KINDS[kind]
        for cause in look(pair)
        if cause.change.is_shown and cause.change.difference * sign > 0
    ]
    if kind == CauseSubject.TIME:
        return _strongest(strong, pair)
    return sorted(strong, key=lambda cause: (cause.rank, -_weight(cause)))[:MOST_CAUSES]


def _strongest(causes: Sequence[Cause], pair: ArmPair) -> list[Cause]:
    notable = _notable(pair, [*_exact(causes)])
    return sorted(notable, key=lambda cause: (cause.rank, -_weight(cause)))[:MOST_CAUSES]


def _exact(causes: Sequence[Cause]) -> Iterator[Cause]:
    """Leave out what others name more exactly, if they are most of it."""
    for cause in causes:
        exact = math.fsum(_weight(other) for other in causes if cause.name in other.names)
        if exact < MAINLY * _weight(cause) or not exact:
            yield cause


def _weight(cause: Cause) -> float:
    if cause.cost is not None:
        return cause.cost
    return abs(cause.change.difference) if cause.unit in (MICROSECONDS, FUNCTION_UNIT, "B") else math.inf


def _notable(pair: ArmPair, causes: Sequence[Cause]) -> Iterator[Cause]:
    """Leave out what explains little of the time, and give the others their shares."""
    least = SHARE * abs(pair.time.difference) if pair.time and pair.time.is_shown else 0.0
    parts = [cause for cause in causes if cause.unit == MICROSECONDS and abs(cause.change.difference) >= least]
    weights = {cause: _weight(cause) for cause in parts if cause.rank < DELAY} or dict.fromkeys(parts, 1.0)
    main = {
        effect for cause, weight in weights.items() if 2 * weight >= max(weights.values()) for effect in cause.effects
    }
    for cause in causes:
        if cause.unit == MICROSECONDS:
            if cause in parts:
                yield replace(cause, share=pair.share(cause.change))
        elif not parts or not pair.has_waits or cause.effects & main:
            yield cause


# Kinds of causes, by what is compared

DELAY = 3  # the rank of waiting for a processor
HITS = "block_cache_hit_pct"
MICROSECONDS, PER_OPERATION = "µs per operation", "per operation"
Kind: TypeAlias = Callable[[ArmPair], Iterator[Cause]]


def _effects(*names: str) -> frozenset[str]:
    return frozenset(names)


def _stalls_and_misses(pair: ArmPair) -> Iterator[Cause]:
    """A miss costs CPU, or a read of the device; where it costs less than a twentieth of the time it is no cause."""
    stalls = pair.change("stall_pct")
    if stalls and stalls.is_above(1.0):
        yield Cause("write stalls", stalls, "% of the time", _effects("stall", "disk", "lock", "timer"), rank=0)
    longer = abs(pair.time.difference) if pair.time else 0.0
    effects = _effects("cache", "cpu", "disk")
    misses = pair.change(
        lambda figures: 100 - hits if (hits := figures.get("block_cache_hit_pct")) is not None else None
    )
    if misses and abs(misses.difference) >= MISSES and misses.is_above(MISSES):
        cost = abs(misses.difference) / 100 * _cost_of_read(pair)
        if cost >= SHARE * longer:
            yield Cause("block cache misses", misses, "%", effects, rank=1)
    pages = pair.change("cache_misses_per_op")
    if pages and pages.is_above(max(0.001, SHARE * longer / _cost_of_read(pair))):
        yield _cache_misses(pair, pages, effects)


def _cache_misses(pair: ArmPair, pages: Change, effects: frozenset[str]) -> Cause:
    """Take its share of the time from the sessions' waits for such reads, where the server tells them.

    Where they do not show it a miss is one of the kernel's cache: what the threads waited for explains more."""
    hits = pair.counted(CACHE_HITS)
    reads = ((event, change) for event, change in pair.sessions.items() if _session_event(event).is_read)
    event, read = next(reads, ("", None))
    details = (f"hits {change_text(hits)}",) if hits else ()
    if not pair.sessions:
        return Cause("cache misses", pages, PER_OPERATION, effects, 1, details)
    if read is None or not read.is_shown or read.difference * pages.difference <= 0:
        return Cause("cache misses", pages, PER_OPERATION, effects, 2, details, COPY * abs(pages.difference))
    details = (*details, f"reads {change_text(read)} µs")
    names, cost = frozenset({_session_wait(event)[0]}), abs(read.difference)
    return Cause("cache misses", pages, PER_OPERATION, effects, 1, details, cost, pair.share(read), names)


def _cost_of_read(pair: ArmPair) -> float:
    reads = pair.change("device_read_await_ms")
    return max(MISS, 1000 * max(reads.arm, reads.base)) if reads else MISS


def _faults(pair: ArmPair) -> Iterator[Cause]:
    """Memory that is mapped anew and given back all the time."""
    faults, cpu = pair.change("page_faults_per_op"), pair.change("cpu_us_per_op")
    if faults and cpu and faults.is_above(0.1) and FAULT * abs(faults.difference) >= abs(cpu.difference) / 4:
        yield Cause("page faults", faults, PER_OPERATION, _effects("cpu"), rank=1)


def _function(pair: ArmPair) -> Iterator[Cause]:
    """Name the function in which most of the CPU is that the arm takes more, or less."""
    changes = function_changes(pair.growth, pair.arm, pair.base, confidence=pair.confidence)
    for name in main_functions(changes):
        yield Cause(f"`{name}`", changes[name], FUNCTION_UNIT, _effects("cpu"), rank=1)


def _cpu(pair: ArmPair) -> Iterator[Cause]:
    """Compare client and server where they are told apart."""
    names = {"client CPU": "client_cpu_us_per_op", "server CPU": "server_cpu_us_per_op"}
    parts = {name: change for name, metric in names.items() if (change := pair.change(metric))}
    if len(parts) < len(names):
        parts = {"CPU": change} if (change := pair.change("cpu_us_per_op")) else {}
    for name, change in parts.items():
        if change.is_above(0.01):
            yield Cause(name, change, MICROSECONDS, _effects("cpu"))


_WAITS: Mapping[str, tuple[str, str]] = {  # metric -> name, effect
    "disk_wait_us_per_op": ("waiting for the disk", "disk"),
    "lock_wait_us_per_op": ("waiting for locks and other threads", "lock"),
    "timer_wait_us_per_op": ("asleep by a timer", "timer"),
    "peer_wait_us_per_op": ("waiting in sockets and pipes", "peer"),
    "other_wait_us_per_op": ("asleep in the kernel", "other"),
}


def _waits(pair: ArmPair) -> Iterator[Cause]:
    """Compare what the step's own threads waited for. Waiting for a processor comes of CPU, and of each sleep's end."""
    for metric, (name, effect) in _WAITS.items():
        change = pair.change(metric)
        if change and change.is_above(0.1):
            details = tuple(_disk_work(pair, change.difference)) if effect == "disk" else ()
            is_synced = any(detail.startswith(_SYNCS) for detail in details)
            yield Cause(name, change, MICROSECONDS, _effects(effect), 1 if is_synced else 2, details)
    between = pair.change(_between_client_and_server)
    if between and between.is_above(0.1):
        yield Cause(_BETWEEN, between, MICROSECONDS, _effects("peer"))
    delay = pair.change("run_delay_us_per_op")
    if delay and delay.is_above(0.1):
        yield Cause("waiting for a processor", delay, MICROSECONDS, _effects("cpu"), rank=DELAY)


_BETWEEN = "waiting in sockets, between client and server"
_OTHER_WAIT = SessionWait("*", "other processes", "peer")


def _session_event(event: str) -> SessionWait:
    return next((wait for wait in wait_events() if fnmatchcase(event.lower(), wait.event)), _OTHER_WAIT)


def _session_wait(event: str) -> tuple[str, str]:
    """Return the name of a cause, and its effect."""
    wait = _session_event(event)
    return f"waiting for {wait.meaning} ({event.partition(':')[2]})", wait.effect


def _session_waits(pair: ArmPair) -> Iterator[Cause]:
    """Compare what the sessions of a server waited for, as it tells itself: locks of rows are a sleep in a socket."""
    waits = {_session_wait(event): change for event, change in pair.sessions.items()}
    if (row_locks := pair.counted(ROW_LOCK_MS)) is not None:
        waits[f"waiting for row locks ({pair.counter_names(ROW_LOCK_MS)})", "lock"] = row_locks.times_as_large(1000.0)
    generic = {effect: name for name, effect in _WAITS.values()}
    for (name, effect), change in waits.items():
        if change.is_above(0.1):
            details = tuple(_disk_work(pair, change.difference)) if effect == "disk" else ()
            names = frozenset({generic.get(effect, _BETWEEN), *(() if effect == "disk" else (_BETWEEN,))})
            yield Cause(name, change, MICROSECONDS, _effects(effect), 1, details, names=names)


def _between_client_and_server(figures: Mapping[str, float]) -> float | None:
    """Compute what is left of the time of an operation of one client after another."""
    parts = ("cpu_us_per_op", "run_delay_us_per_op", *SLEEPS[:3])
    if "peer_wait_us_per_op" in figures or "avg_us" not in figures or any(name not in figures for name in parts):
        return None
    return max(0.0, figures["avg_us"] - math.fsum(figures[name] for name in parts))


def _disk_work(pair: ArmPair, difference: float) -> Iterator[str]:
    """Say which work of a disk went the way of its waits: syncs, requests, and how long each waits."""
    syncs = pair.counted(SYNCS)
    work: dict[str, tuple[Change | None, str]] = {_SYNCS[0]: (syncs, PER_OPERATION)}
    if syncs is None:
        flushes = pair.change(
            lambda figures: (
                figures["device_flushes_per_s"] / figures[QPS]
                if "device_flushes_per_s" in figures and figures.get(QPS)
                else None
            )
        )
        work[_SYNCS[1]] = flushes, PER_OPERATION
    work |= {f"device {word}s": (pair.change(_own_requests(word)), PER_OPERATION) for word in OWN_BYTES}
    work |= {f"each {word}": (_await(pair, word), "ms") for word in OWN_BYTES}
    changes = {name: (change, unit) for name, (change, unit) in work.items() if change and change.is_above(0.01)}
    same_way = {name: pair_ for name, pair_ in changes.items() if pair_[0].difference * difference > 0}
    for name, (change, unit) in [*same_way.items()][:2]:
        yield f"{name} {change_text(change)} {unit}"


_SYNCS = ("syncs", "device flushes")  # as an engine counts them; else those of the whole host


def _await(pair: ArmPair, word: str) -> Change | None:
    requests = pair.change(
        lambda figures: (
            figures[f"{word}s_per_op"] * figures["operations"]
            if f"{word}s_per_op" in figures and figures.get("operations")
            else None
        )
    )
    is_counted = requests is not None and min(requests.arm, requests.base) >= REQUESTS
    return pair.change(f"device_{word}_await_ms") if is_counted else None


def _own_requests(word: str) -> PerOperation:
    """Count reads or writes of the device per operation, by the share of its bytes that the step's processes caused."""

    def requests_of(figures: Mapping[str, float]) -> float | None:
        requests, kib, operations = (
            figures.get(metric) for metric in (f"{word}s_per_op", f"{word}_kb_per_op", "operations")
        )
        own_bytes = [figures[metric] for metric in OWN_BYTES[word] if metric in figures]
        if requests is None or not own_bytes or not operations or not kib:
            return requests
        return requests * min(1.0, math.fsum(own_bytes) / operations / (kib * KIB))

    return requests_of


def _device(pair: ArmPair) -> Iterator[Cause]:
    """Compare what the requests of an operation wait, where the waits of the step's threads are unknown."""
    for word in () if pair.has_waits else OWN_BYTES:
        yield from _device_requests(pair, word)


def _device_requests(pair: ArmPair, word: str) -> Iterator[Cause]:
    def cost(figures: Mapping[str, float]) -> float | None:
        number, wait = count(figures), figures.get(f"device_{word}_await_ms")
        return None if number is None or wait is None else 1000 * number * wait

    count = _own_requests(word)
    requests, await_ms, costs = pair.change(count), _await(pair, word), pair.change(cost)
    if not requests or not costs or costs.difference * requests.difference < 0:
        return
    weight = abs(costs.difference)
    if weight < (SHARE * abs(pair.time.difference) if pair.time else 0.0):
        return
    if await_ms and await_ms.is_above(0.05) and await_ms.times > requests.times:
        yield Cause(f"each {word} of the device waits", await_ms, "ms", _effects("disk"), cost=weight)
    elif requests.is_above(0.001):
        rank = 1 if _is_synced(pair) else 2
        yield Cause(f"device {word}s", requests, PER_OPERATION, _effects("disk"), rank, cost=weight)


def _contention(pair: ArmPair) -> Iterator[Cause]:
    """Likewise: compare the whole host. With no more switches by the second, others switch meanwhile."""
    switches, rate = pair.change("context_switches_per_op"), pair.change("context_switches_per_s")
    if pair.has_waits or switches is None or not switches.is_above(0.01):
        return
    if rate is None or (rate.is_above(1.0) and rate.difference * switches.difference > 0):
        is_first = max(switches.times, 1 / switches.times) >= CONTENTION and abs(switches.difference) >= 0.1
        cost, longer = SWITCH * abs(switches.difference), abs(pair.time.difference) if pair.time else 0.0
        if cost >= SHARE * longer or is_first:
            rank = 1 if is_first and not _is_synced(pair) else 2
            yield Cause("context switches", switches, PER_OPERATION, _effects("lock", "cpu"), rank)


def _is_synced(pair: ArmPair) -> bool:
    """Tell commits that wait for the device from those that do not: switches and CPU of the kernel follow from it."""
    writes = pair.change(_own_requests("write"))
    return writes is not None and writes.is_above(0.1) and not 1 / SYNCED < writes.times < SYNCED


_SIZED = {"indexes": INDEX_BYTES, "tables without indexes": DATA_BYTES, "database": "database_bytes"}


def _sizes(pair: ArmPair) -> Iterator[Cause]:
    """Tables, indexes or files that were larger before the step: what it wrote itself is no cause of it."""
    written = pair.change(
        lambda figures: (
            math.fsum(figures.get(name, 0.0) for name in OWN_BYTES["write"])
            if any(name in figures for name in OWN_BYTES["write"])
            else None
        )
    )
    for cause in _larger_objects(pair):
        if written and max(written.arm, written.base) < abs(cause.change.difference) / 2:
            yield cause
            return


def _larger_objects(pair: ArmPair) -> Iterator[Cause]:
    """Yield tables and indexes, the largest change first; where there are none what the engine, or the files, say."""
    effects = _effects("size", "cache", "cpu", "disk")
    changes = _object_changes(pair) if pair.details else {}
    if not any(change.is_above(SMALLEST) for change in changes.values()):
        totals = {name: change for name, metric in _SIZED.items() if (change := pair.change(metric))}
        engine = {name: change for name, change in totals.items() if name != "database"}
        changes = engine if any(change.is_above(SMALLEST) for change in engine.values()) else totals
    for name, change in sorted(changes.items(), key=lambda item: -abs(item[1].difference)):
        if change.is_above(SMALLEST):
            yield Cause(name, change, "B", effects, rank=0)


def _object_changes(pair: ArmPair) -> dict[str, Change]:
    arms, bases = (_objects(point, pair.details) for point in (pair.arm, pair.base))
    names = dict.fromkeys([*arms, *bases])
    changes = {name: change_of(arms.get(name, {}), bases.get(name, {}), pair.confidence) for name in names}
    return {name: change for name, change in changes.items() if change}


def _objects(point: Point, details: StepDetails | None) -> dict[str, dict[int, float]]:
    """Return bytes by name and load: of tables without their indexes."""
    sizes: dict[str, dict[int, float]] = {}
    for run in point.runs:
        rows = details.sizes.get(run.place, ()) if details else ()
        bytes_by_object = {(row["table_name"], row["index_name"]): row["bytes"] for row in rows if row["bytes"]}
        for (table, index), size in bytes_by_object.items():
            if index is None:
                indexes = math.fsum(
                    other for (owner, name), other in bytes_by_object.items() if name and owner == table
                )
                sizes.setdefault(f"table {table}", {})[run.load] = max(0.0, size - indexes) or size
            else:
                sizes.setdefault(f"index {index} of {table}", {})[run.load] = size
    return sizes


def _levels(pair: ArmPair) -> Iterator[Cause]:
    """Compare what compactions wrote into each level, and what is there."""
    for column, prefix in (("write_bytes", "written into "), ("bytes", "")):
        sides = [_level_bytes(point, pair.details, column) for point in (pair.arm, pair.base)]
        for level in sorted({name for side in sides for loads in side.values() for name in loads}):
            arm, base = ({load: sizes.get(level, 0.0) for load, sizes in side.items()} for side in sides)
            change = change_of(arm, base, pair.confidence)
            if change and change.is_above(SMALLEST):
                yield Cause(f"{prefix}{level}", change, "B", _effects("size"), rank=1)


def _level_bytes(point: Point, details: StepDetails | None, column: str) -> dict[int, dict[str, float]]:
    """Return bytes by load and level, of all column families."""
    loads: dict[int, dict[str, float]] = {}
    for run in point.runs if details else ():
        for row in details.levels.get(run.place, ()) if details else ():
            if str(row["level"])[1:].isdecimal() and row[column] is not None:
                sizes = loads.setdefault(run.load, {})
                sizes[row["level"]] = sizes.get(row["level"], 0.0) + row[column]
    return loads


def _operations(pair: ArmPair) -> Iterator[Cause]:
    operations = pair.change("operations")
    if operations and operations.is_above(1.0):
        yield Cause("operations", operations, "", _effects(), rank=2)


_KINDS: Mapping[str, tuple[Kind, ...]] = {
    CauseSubject.TIME: (
        _stalls_and_misses,
        _sizes,
        _faults,
        _function,
        _cpu,
        _session_waits,
        _waits,
        _device,
        _contention,
    ),
    CauseSubject.CPU: (_sizes, _stalls_and_misses, _faults, _function, _cpu),
    CauseSubject.SIZE: (_larger_objects, _levels, _operations),
    CauseSubject.OTHER: (),
}
