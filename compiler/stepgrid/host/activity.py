"""Activity of other processes on this host between two readings; our own does not count."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from msgspec import Struct

from stepgrid.host import counters, sysfs
from stepgrid.host.counters import TICK, Sensors
from stepgrid.host.locks import PIPELINE, VERBS, host_lock_path, lock_holders
from stepgrid.model.records import OK, WARNING, HostFinding
from stepgrid.model.units import percent, size

LOOK = 0.2  # seconds: it is part of what a run takes beside its steps (bench/overhead.py)
OVERRIDE = "STEPGRID_LOOK"  # of the tests
BLOCK = "sys/class/block"
IDLE_TIMES = ("idle", "iowait", "steal")
ALLOWED_CORES, ALLOWED_SHARE = 0.1, 0.02  # of one core, or of all: whichever is more
ALLOWED_STEAL = 0.02
ALLOWED_DEVICE = 0.05
HOT = 90  # °C: from about there processors slow down
NAMED_PROCESSES = 3


class Process(NamedTuple):
    pid: int
    parent: int
    name: str
    cpu: float  # seconds so far


class ActivityReading(Struct, frozen=True):
    """The counters at one moment."""

    at: float
    host: Mapping[str, object]
    processes: Mapping[int, Process]
    sensors: Mapping[str, float]


class Activity(Struct, frozen=True):
    """The difference between two readings."""

    first: ActivityReading
    last: ActivityReading

    @property
    def seconds(self) -> float:
        return self.last.at - self.first.at

    def busy(self) -> list[tuple[Process, float]]:
        """List other processes that used the processors, the busiest first, with the cores that each took."""
        last = self.last.processes
        excluded = own_pids(last)
        uses = [
            (process, self._cpu_seconds(pid)) for pid, process in self.last.processes.items() if pid not in excluded
        ]
        return sorted([(process, cpu / self.seconds) for process, cpu in uses if cpu > 0], key=lambda pair: -pair[1])

    def own_cpu_seconds(self) -> float:
        pids = own_pids(self.last.processes) & self.first.processes.keys()
        return sum(self._cpu_seconds(pid) for pid in pids)

    def _cpu_seconds(self, pid: int) -> float:
        earlier = self.first.processes.get(pid)
        return self.last.processes[pid].cpu - (earlier.cpu if earlier else 0.0)

    def grown(self, *path: str) -> float | None:
        """Tell by how much a counter has grown; None where it cannot be read."""
        first, last = _counter(self.first.host, path), _counter(self.last.host, path)
        return None if first is None or last is None else float(last) - float(first)


class FirstReading(Struct, frozen=True):
    sensors: Sensors
    reading: ActivityReading

    @property
    def age(self) -> float:
        return time.monotonic() - self.reading.at


def look_seconds() -> float:
    """Tell how long a look takes; 0: there is none."""
    return float(os.environ.get(OVERRIDE) or LOOK)


def first_reading_of_job() -> FirstReading | None:
    """Read at the start of a job, before its imports: their time is that of the look."""
    with suppress(Exception):  # watching is no reason for a stage to fail
        return first_reading() if look_seconds() else None
    return None


def first_reading(devices: Sequence[str] | None = None) -> FirstReading:
    """Read all devices where it is not known yet on which ones databases are."""
    sensors = Sensors()
    return FirstReading(sensors, _read(sensors, sysfs.names(BLOCK) if devices is None else devices))


def observe(seconds: float, devices: Sequence[str], first: FirstReading | None = None) -> Activity:
    """Compare a first reading, now or before, with another one at least so many seconds later."""
    first = first or first_reading(devices)
    time.sleep(max(seconds - first.age, 0.0))
    return Activity(first.reading, _read(first.sensors, devices))


def _read(sensors: Sensors, devices: Sequence[str]) -> ActivityReading:
    return ActivityReading(time.monotonic(), counters.host(None, devices), read_processes(), sensors.read())


def activity_findings(activity: Activity, cpus: int, devices: Sequence[str]) -> Iterator[HostFinding]:
    yield _cpu(activity, cpus)
    yield _steal(activity)
    yield from (_device(activity, name) for name in devices)
    if not devices:
        yield HostFinding.unknown("device", "it is not known which one databases are on")
    yield from (_swapping(activity), _throttling(activity), _temperature(activity))


def _cpu(activity: Activity, cpus: int) -> HostFinding:
    """Subtract our use from that of all processors: others may be processes which nobody sees from here."""
    times = [activity.grown("cpu", name) for name in counters.CPU if name not in IDLE_TIMES]
    limit = max(ALLOWED_CORES, ALLOWED_SHARE * cpus)
    expected = f"others use less than {percent(limit)} of a core"
    if times[0] is None or not activity.last.processes:
        return HostFinding.unknown("cpu", expected=expected)
    total, busy = sum(filter(None, times)), activity.busy()[:NAMED_PROCESSES]
    cores = min(max(total - activity.own_cpu_seconds(), 0.0) / activity.seconds, cpus)  # the kernel counts in ticks
    names = ", ".join(f"{process.name} ({process.pid}) {percent(share)}" for process, share in busy)
    text = f"others used {percent(round(cores, 3))} of a core{f'; busiest: {names}' if names else ''}"
    busiest = [{"pid": process.pid, "name": process.name, "cores": round(share, 3)} for process, share in busy]
    value = {"cores": round(cores, 3), "busiest": busiest}
    noisy = cores > limit
    mend = f"ps -o pid,user,args -p {','.join(str(process.pid) for process, _ in busy)}" if noisy and busy else ""
    return HostFinding("cpu", WARNING if noisy else OK, text, value, expected, mend, noisy)


def _steal(activity: Activity) -> HostFinding:
    stolen, expected = activity.grown("cpu", "steal"), f"less than {percent(ALLOWED_STEAL)} of a core"
    if stolen is None:
        return HostFinding.unknown("steal", expected=expected)
    share = stolen / activity.seconds
    noisy = share > ALLOWED_STEAL
    text = f"other virtual machines took {percent(share)} of a core"
    mend = "another machine, or processors of its own for this one" if noisy else ""
    return HostFinding("steal", WARNING if noisy else OK, text, round(share, 3), expected, mend, noisy)


def _device(activity: Activity, name: str) -> HostFinding:
    busy_ms = activity.grown("devices", name, "busy_ms")
    expected = f"busy for less than {percent(ALLOWED_DEVICE)} of the time"
    if busy_ms is None:
        return HostFinding.unknown(f"device {name}", expected=expected)
    share = min(busy_ms / 1000 / activity.seconds, 1.0)
    rates = {key: (activity.grown("devices", name, key) or 0.0) / activity.seconds for key in ("reads", "writes")}
    text = f"{name} was busy for {percent(share)} of the time ({rates['reads']:.0f} r/s, {rates['writes']:.0f} w/s)"
    value = {"busy": round(share, 3), **{key: round(rate, 1) for key, rate in rates.items()}}
    noisy = share > ALLOWED_DEVICE
    mend = "wait until it is idle; `iotop -o` tells who" if noisy else ""
    return HostFinding(f"device {name}", WARNING if noisy else OK, text, value, expected, mend, noisy)


def _swapping(activity: Activity) -> HostFinding:
    swapped_in, swapped_out = activity.grown("paging", "swapped_in"), activity.grown("paging", "swapped_out")
    if swapped_in is None or swapped_out is None:
        return HostFinding.unknown("swapping", expected="none")
    rate = (swapped_in + swapped_out) / activity.seconds
    noisy = rate > 0
    mend = "end what needs the memory, or sudo swapoff -a" if noisy else ""
    text = f"{size(rate)}/s" if noisy else "none"
    return HostFinding("swapping", WARNING if noisy else OK, text, rate, "none", mend, noisy)


def _throttling(activity: Activity) -> HostFinding:
    first, last = (reading.sensors.get("throttles") for reading in (activity.first, activity.last))
    if first is None or last is None:
        return HostFinding.unknown("throttling", expected="none")
    noisy = last > first
    text = f"slowed down {last - first:.0f} times just now" if noisy else f"none now, {last:.0f} since the start"
    mend = "look after the cooling" if noisy else ""
    return HostFinding("throttling", WARNING if noisy else OK, text, last, "none", mend, noisy)


def _temperature(activity: Activity) -> HostFinding:
    celsius, expected = activity.last.sensors.get("celsius"), f"less than {HOT} °C"
    if celsius is None:
        return HostFinding.unknown("temperature", expected=expected)
    noisy = celsius >= HOT
    mend = "let it cool down" if noisy else ""
    return HostFinding("temperature", WARNING if noisy else OK, f"{celsius:.0f} °C", celsius, expected, mend, noisy)


def _counter(sample: Mapping[str, object], path: Sequence[str]) -> Any:
    value: Any = sample
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


# The processes of this host: whose they are, and which of them are known to disturb.

COMPILERS = ("cc1", "cc1plus", "clang", "clang++", "lto1", "ld", "ld.lld", "rustc", "cargo", "ninja", "javac", "bazel")
SERVICES = (
    *("updatedb", "updatedb.mlocat", "updatedb.plocat", "mandb", "apt", "apt-get", "aptitude", "dpkg", "dnf", "yum"),
    *("zypper", "rpm", "packagekitd", "unattended-upgr", "snapd", "fstrim", "e2scrub", "xfs_scrub", "btrfs"),
    *("rsync", "restic", "borg", "duplicity", "tar", "clamscan", "freshclam", "aide", "rkhunter"),
    *("tracker-miner-f", "tracker-extract", "baloo_file", "baloo_file_extr", "localsearch-3"),
)  # as the kernel cuts names: 15 bytes
WAITING_SERVICES = ("packagekitd", "snapd", "unattended-upgr", "tracker-miner-f", "baloo_file", "localsearch-3")
CRON = ("cron", "crond", "anacron", "atd")
NAMED_DISTURBERS = 5


def read_processes() -> dict[int, Process]:
    return {process.pid: process for pid in sysfs.pids() if (process := _read_process(pid))}


def _read_process(pid: int) -> Process | None:
    head, _, tail = (sysfs.text(f"proc/{pid}/stat") or "").rpartition(") ")
    fields = tail.split()
    if len(fields) < 13:
        return None
    return Process(pid, int(fields[1]), head.partition(" (")[2], (int(fields[11]) + int(fields[12])) / TICK)


def own_pids(processes: Mapping[int, Process]) -> set[int]:
    """List this process, its ancestors and its descendants: their noise is that of the tool, not of others."""
    ancestors = {process.pid for process in _ancestry(processes, os.getpid())}
    return ancestors | {
        pid for pid in processes if any(process.pid == os.getpid() for process in _ancestry(processes, pid))
    }


def _ancestry(processes: Mapping[int, Process], pid: int) -> Iterator[Process]:
    """List a process and its ancestors, but not the first of all."""
    visited: set[int] = set()
    while pid > 1 and pid in processes and pid not in visited:
        visited.add(pid)
        yield processes[pid]
        pid = processes[pid].parent


def process_findings(processes: Mapping[int, Process], busy: Sequence[Process]) -> Iterator[HostFinding]:
    """Judge what is known by its name; `busy`: those that did something just now."""
    if not processes:
        yield from map(HostFinding.unknown, ("builds", "services", "cron jobs", "other runs"))
        return
    excluded = own_pids(processes)
    foreign = [process for pid, process in processes.items() if pid not in excluded]
    active = {process.pid for process in busy}
    compilers = [process for process in foreign if process.name in COMPILERS]
    yield _disturbers("builds", "no compiler runs", compilers, "let it finish")
    services = [p for p in foreign if p.name in SERVICES and (p.pid in active or p.name not in WAITING_SERVICES)]
    yield _disturbers("services", "none at work", services, "let it finish, or stop it")
    cron_jobs = [
        process
        for process in foreign  # not the workers that cron itself leads, which have its name
        if process.name not in CRON and any(a.name in CRON for a in _ancestry(processes, process.parent))
    ]
    yield _disturbers("cron jobs", "none", cron_jobs, "let it finish, or stop it")
    jobs = _other_jobs(foreign)
    shares_lock = bool(jobs) and {job.pid for job in jobs} <= {*lock_holders(host_lock_path())}
    advice = "let it finish" if shares_lock else "one host lock for all: see STEPGRID_HOST_LOCK"
    yield _disturbers("other runs", "none", jobs, advice)


def _disturbers(name: str, none: str, processes: Sequence[Process], mend: str) -> HostFinding:
    if not processes:
        return HostFinding(name, OK, none, [], none)
    names = ", ".join(dict.fromkeys(f"{process.name} ({process.pid})" for process in processes[:NAMED_DISTURBERS]))
    unnamed = len(processes) - NAMED_DISTURBERS
    value = [{"pid": process.pid, "name": process.name} for process in processes]
    text = f"{names} and {unnamed} more" if unnamed > 0 else names
    return HostFinding(name, WARNING, text, value, none, mend, travels=True)


def _other_jobs(processes: Iterable[Process]) -> list[Process]:
    """List jobs of stepgrid that this host's lock does not keep waiting."""
    words_by_pid = {p.pid: set((sysfs.text(f"proc/{p.pid}/cmdline") or "").split("\0")) for p in processes}
    jobs = [p for p in processes if PIPELINE in words_by_pid[p.pid] and words_by_pid[p.pid] & VERBS.keys()]
    lines = (sysfs.text("proc/locks") or "").splitlines() if jobs else ()  # the kernel takes 10 ms to list its locks
    rows = [line.split() for line in lines if "->" in line]
    waiting = {int(row[5]) for row in rows if len(row) > 5 and row[5].isdecimal()}
    return [process for process in jobs if process.pid not in waiting]
