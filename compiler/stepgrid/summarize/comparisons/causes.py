"""Why an arm is faster or slower than its base: what it used more or less of per operation, ranked by what that costs.

What a cause leads to stands behind it: more misses of a cache mean more reads and more CPU, more waiting for each other
more context switches and more CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.summarize.comparisons.resource_use import IDLE, Pair, Used, figure
from stepgrid.summarize.data.points import Point

LEAST = 1.1  # times more or less: a smaller change is no cause
SHARE = 0.05  # of the time that an operation takes longer, or less long
MOST_CAUSES = 3  # that are named
SWITCH = 5.0  # microseconds that a context switch costs, with the caches that it leaves cold
CONTENTION, MISSES = 1.5, 1.0  # times more context switches; percentage points more misses
PRESSURE = 10.0  # percentage points of the time
MAINLY = 0.5  # of that time: what is left and less is no cause
WHOLE = 0.995  # of the time: what is more than all of it is not told


@dataclass(frozen=True, slots=True)
class Cause:
    text: str
    microseconds: float  # per operation that it costs more; below 0 it saves
    first: bool = False  # what others follow from
    wait: bool = False  # the operation is off the processors meanwhile


def causes(arm: Point, base: Point) -> list[str]:
    """The strongest first, of those that go the way of the difference."""
    pair = Pair(arm, base)
    rate = pair.used(QPS)
    if rate is None or rate.arm == rate.base:
        return []
    sign = 1 if rate.arm < rate.base else -1
    measured = [each for kind in KINDS for each in kind(pair)]
    found = [each for each in (*measured, *_waits(pair, measured)) if each.microseconds * sign > 0]
    least = SHARE * abs(pair.longer or 0.0)
    kept = [each for each in found if each.first or abs(each.microseconds) >= least]
    ranked = sorted(kept, key=lambda each: (not each.first, -abs(each.microseconds)))
    return [f"{each.text}{_share(each, pair.longer)}" for each in ranked[:MOST_CAUSES]]


def _share(each: Cause, longer: float | None) -> str:
    if each.first or not longer or each.microseconds / longer <= 0:
        return ""
    share = each.microseconds / longer
    return f", {units.percent(round(share, 2))} of the time" if share < WHOLE else ", all of the time"


def _misses(pair: Pair) -> Iterator[Cause]:
    if hits := pair.used("block_cache_hit_pct"):
        arm, base = 100 - hits.arm, 100 - hits.base
        if abs(arm - base) >= MISSES and max(arm, base) > LEAST * min(arm, base):
            yield Cause(f"block cache misses {base:.3g} % → {arm:.3g} %", arm - base, first=True)
    if (found := pair.used("cache_misses_per_op")) and _changed(found, 0.001):
        yield Cause(f"cache misses {_change(found)} per operation", found.more, first=True)


def _stalls(pair: Pair) -> Iterator[Cause]:
    found, rate = pair.used("stall_pct"), pair.used(QPS)
    if found and rate and _changed(found, 1.0):
        cost = (found.arm / rate.arm - found.base / rate.base) * 1e4
        yield Cause(f"write stalls {_change(found)} % of the time", cost, first=True)


def _device(pair: Pair) -> Iterator[Cause]:
    """What the requests of an operation wait: more of them, or each longer."""
    for word in ("read", "write"):
        requests, await_ms = pair.requests(word), pair.used(f"device_{word}_await_ms")
        if requests and await_ms:
            cost = 1000 * (requests.arm * await_ms.arm - requests.base * await_ms.base)
            if await_ms.times > requests.times and _changed(await_ms, 0.05):
                yield Cause(f"each {word} of the device waits {_change(await_ms)} ms", cost, wait=True)
            elif _changed(requests, 0.001):
                yield Cause(f"device {word}s {_change(requests)} per operation", cost, wait=True)


def _contention(pair: Pair) -> Iterator[Cause]:
    """Of the whole host. With no more of them by the second, others switch while an operation takes longer."""
    found, rate = pair.used("context_switches_per_op"), pair.used("context_switches_per_s")
    if found and _changed(found, 0.01) and (rate is None or (_changed(rate, 1.0) and rate.more * found.more > 0)):
        much = max(found.times, 1 / found.times) >= CONTENTION and abs(found.more) >= 0.1
        yield Cause(f"context switches {_change(found)} per operation", SWITCH * found.more, first=much)


def _cpu(pair: Pair) -> Iterator[Cause]:
    """Of client and server where they are told apart."""
    parts = (("client", "client_cpu_us_per_op"), ("server", "server_cpu_us_per_op"))
    known = [(f"{name} CPU", found) for name, metric in parts if (found := pair.used(metric))]
    whole = pair.used("cpu_us_per_op")
    for name, found in known if len(known) == len(parts) else [("CPU", whole)] if whole else []:
        if _changed(found, 0.01):
            yield Cause(f"{name} {_change(found)} µs per operation", pair.processor_time(found))


def _waits(pair: Pair, measured: Sequence[Cause]) -> Iterator[Cause]:
    """What the device does not account for: a limit of a container, and what nobody counts."""
    known = sum(each.microseconds for each in measured if each.wait)
    for each in _pressure(pair, known):
        known += each.microseconds
        yield each
    yield from _off_the_processors(pair, known)


def _pressure(pair: Pair, known: float) -> Iterator[Cause]:
    found, time = pair.used("pressure_io_pct"), figure(pair.slower, "avg_us")
    if found and time and abs(found.more) >= PRESSURE:
        cost = time * found.more / 100
        if abs(known) < abs(cost) / 2:
            yield Cause(f"some task waits for IO {_change(found)} % of the time", cost - known, wait=True)


def _off_the_processors(pair: Pair, known: float) -> Iterator[Cause]:
    """What is left, where it is most of it. Where no processor is idle, it is the wait for one."""
    time, cpu, idle = pair.used("avg_us"), pair.used("cpu_us_per_op"), figure(pair.slower, "host_cpu_idle_pct")
    if time and cpu and idle is not None and idle >= IDLE:
        off = Used(*(max(0.0, whole - used) for whole, used in zip(time, cpu, strict=True)))
        if _changed(off, 0.01) and abs(off.more - known) > MAINLY * abs(time.more):
            yield Cause(f"off the processors {_change(off)} µs per operation", off.more - known)


KINDS: tuple[Callable[[Pair], Iterator[Cause]], ...] = (_stalls, _misses, _contention, _device, _cpu)


def _changed(found: Used, least: float) -> bool:
    """`least`: a change that is worth telling whatever it is a multiple of."""
    times = found.times if found.base else math.inf
    return abs(found.more) >= least and (times >= LEAST or times <= 1 / LEAST)


def _change(found: Used) -> str:
    times = f" ({units.times(found.times)})" if math.isfinite(found.times) else ""
    return f"{units.figure(found.base)} → {units.figure(found.arm)}{times}"
