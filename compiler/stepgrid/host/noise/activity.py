"""What happens on this host between two readings: what we do ourselves does not count."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from stepgrid.host import counters, sysfs
from stepgrid.host.counters import Sensors
from stepgrid.host.host_check import OK, WARNING, Finding, unknown
from stepgrid.host.noise.background_processes import Process, busiest, ours, processes
from stepgrid.model.number_format import percent, size

LOOK = 0.2  # seconds: it is part of what a run takes beside its steps (bench/overhead.py)
OVERRIDE = "STEPGRID_LOOK"  # of the tests
BLOCK = "sys/class/block"
IDLE = ("idle", "iowait", "steal")
ALLOWED_CORES, ALLOWED_SHARE = 0.1, 0.02  # of one core, or of all: whichever is more
ALLOWED_STEAL = 0.02
ALLOWED_DEVICE = 0.05
HOT = 90  # °C: from about there processors slow down
MOST = 3


@dataclass(frozen=True, slots=True)
class ActivityReading:
    """At one moment."""

    at: float
    host: Mapping[str, Any]
    found: Mapping[int, Process]
    sensors: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Activity:
    """Between two."""

    first: ActivityReading
    last: ActivityReading

    @property
    def seconds(self) -> float:
        return self.last.at - self.first.at

    def busy(self) -> list[tuple[Process, float]]:
        return busiest(self.first.found, self.last.found, self.seconds)

    def grown(self, *path: str) -> float | None:
        """By how much a counter has grown; None where it cannot be read."""
        first, last = _at(self.first.host, path), _at(self.last.host, path)
        return None if first is None or last is None else float(last) - float(first)


@dataclass(frozen=True, slots=True)
class FirstReading:
    sensors: Sensors
    reading: ActivityReading

    @property
    def age(self) -> float:
        return time.monotonic() - self.reading.at


def seconds() -> float:
    """How long is looked; 0: not at all."""
    return float(os.environ.get(OVERRIDE) or LOOK)


def of_job() -> FirstReading | None:
    """At its start, before its imports: their time is that of the look."""
    with suppress(Exception):  # watching is no reason for a stage to fail
        return first_reading() if seconds() else None
    return None


def first_reading(devices: Sequence[str] | None = None) -> FirstReading:
    """Of all devices, where it is not known yet on which ones databases are."""
    sensors = Sensors()
    return FirstReading(sensors, _look(sensors, sysfs.names(BLOCK) if devices is None else devices))


def observed(seconds: float, devices: Sequence[str], first: FirstReading | None = None) -> Activity:
    """Between a first reading, now or before, and another one at least so many seconds later."""
    first = first or first_reading(devices)
    time.sleep(max(seconds - first.age, 0.0))
    return Activity(first.reading, _look(first.sensors, devices))


def _look(sensors: Sensors, devices: Sequence[str]) -> ActivityReading:
    return ActivityReading(time.monotonic(), counters.host(None, devices), processes(), sensors.read())


def findings(seen: Activity, cpus: int, devices: Sequence[str]) -> Iterator[Finding]:
    yield _cpu(seen, cpus)
    yield _steal(seen)
    yield from (_device(seen, name) for name in devices)
    if not devices:
        yield unknown("device", "it is not known which one databases are on")
    yield from (_swapping(seen), _throttling(seen), _temperature(seen))


def _cpu(seen: Activity, cpus: int) -> Finding:
    """Of all that the processors did, what was not ours: also that of processes which nobody sees from here."""
    total, busy = _busy(seen), seen.busy()
    limit = max(ALLOWED_CORES, ALLOWED_SHARE * cpus)
    expected = f"others use less than {percent(limit)} of a core"
    if total is None or not seen.last.found:
        return unknown("cpu", expected=expected)
    used = min(max(total - _own(seen), 0.0) / seen.seconds, cpus)  # the kernel counts in ticks
    names = ", ".join(f"{each.name} ({each.pid}) {percent(cores)}" for each, cores in busy[:MOST])
    said = f"others used {percent(round(used, 3))} of a core{f'; busiest: {names}' if names else ''}"
    value = {"cores": round(used, 3), "busiest": [_told(each, cores) for each, cores in busy[:MOST]]}
    noisy = used > limit
    mend = f"ps -o pid,user,args -p {','.join(str(each.pid) for each, _ in busy[:MOST])}" if noisy and busy else ""
    return Finding("cpu", WARNING if noisy else OK, said, value, expected, mend, noisy)


def _told(each: Process, cores: float) -> dict[str, Any]:
    return {"pid": each.pid, "name": each.name, "cores": round(cores, 3)}


def _busy(seen: Activity) -> float | None:
    parts = [seen.grown("cpu", name) for name in counters.CPU if name not in IDLE]
    return sum(part for part in parts if part is not None) if parts[0] is not None else None


def _own(seen: Activity) -> float:
    own = ours(seen.last.found) & seen.first.found.keys()
    return sum(seen.last.found[pid].cpu - seen.first.found[pid].cpu for pid in own)


def _steal(seen: Activity) -> Finding:
    stolen, expected = seen.grown("cpu", "steal"), f"less than {percent(ALLOWED_STEAL)} of a core"
    if stolen is None:
        return unknown("steal", expected=expected)
    share = stolen / seen.seconds
    noisy = share > ALLOWED_STEAL
    said = f"other virtual machines took {percent(share)} of a core"
    mend = "another machine, or processors of its own for this one" if noisy else ""
    return Finding("steal", WARNING if noisy else OK, said, round(share, 3), expected, mend, noisy)


def _device(seen: Activity, name: str) -> Finding:
    busy, expected = seen.grown("devices", name, "busy_ms"), f"busy for less than {percent(ALLOWED_DEVICE)} of the time"
    if busy is None:
        return unknown(f"device {name}", expected=expected)
    share = min(busy / 1000 / seen.seconds, 1.0)
    rates = {key: (seen.grown("devices", name, key) or 0.0) / seen.seconds for key in ("reads", "writes")}
    said = f"{name} was busy for {percent(share)} of the time ({rates['reads']:.0f} r/s, {rates['writes']:.0f} w/s)"
    value = {"busy": round(share, 3), **{key: round(rate, 1) for key, rate in rates.items()}}
    noisy = share > ALLOWED_DEVICE
    mend = "wait until it is idle; `iotop -o` tells who" if noisy else ""
    return Finding(f"device {name}", WARNING if noisy else OK, said, value, expected, mend, noisy)


def _swapping(seen: Activity) -> Finding:
    moved = [seen.grown("paging", name) for name in ("swapped_in", "swapped_out")]
    known = [each for each in moved if each is not None]
    if len(known) < len(moved):
        return unknown("swapping", expected="none")
    noisy = sum(known) > 0
    said = f"{size(sum(known) / seen.seconds)}/s" if noisy else "none"
    mend = "end what needs the memory, or sudo swapoff -a" if noisy else ""
    return Finding("swapping", WARNING if noisy else OK, said, sum(known) / seen.seconds, "none", mend, noisy)


def _throttling(seen: Activity) -> Finding:
    first, last = (look.sensors.get("throttles") for look in (seen.first, seen.last))
    if first is None or last is None:
        return unknown("throttling", expected="none")
    noisy = last > first
    said = f"slowed down {last - first:.0f} times just now" if noisy else f"none now, {last:.0f} since the start"
    mend = "look after the cooling" if noisy else ""
    return Finding("throttling", WARNING if noisy else OK, said, last, "none", mend, noisy)


def _temperature(seen: Activity) -> Finding:
    celsius, expected = seen.last.sensors.get("celsius"), f"less than {HOT} °C"
    if celsius is None:
        return unknown("temperature", expected=expected)
    noisy = celsius >= HOT
    mend = "let it cool down" if noisy else ""
    return Finding("temperature", WARNING if noisy else OK, f"{celsius:.0f} °C", celsius, expected, mend, noisy)


def _at(sample: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = sample
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
