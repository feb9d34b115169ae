"""Samples while a step runs: a line per second of what the host, its devices and the step's processes have used."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from stepgrid.host import counters, disk
from stepgrid.host.counters import PAGE, TICK
from stepgrid.host.files import tree_size

SECOND = 1.0  # between two samples
SLOW_PERIOD = 5.0  # seconds between two walks over the database's folder, and between two looks at the sensors


class Sampler:
    """`start` with the child's pid, `stop` when it has ended and is not reaped yet; never raises into a step.

    `server`: the process group of the engine, where the child is only its client. `data`: the database, where it is
    one of ours. `usage`: reads what the program uses, where it runs on another machine.
    """

    def __init__(
        self,
        path: Path,
        data: Path | None,
        device: str | None = None,
        server: int | None = None,
        usage: Callable[[], Any] | None = None,
    ) -> None:
        self._usage = usage
        self._data, self._server = data, None if server is None else ProcessGroup(server)
        self._device = disk.device(data or path, device) if data or device else None
        self._devices = disk.members(self._device) if self._device else []
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.cpu_seconds = 0.0  # the price of watching
        self.error: str | None = None
        self.open_files: OpenFiles | None = None  # of the child's group
        self._threads: list[ThreadTimes] = []  # that are looked at between samples
        self._file: TextIO | None = None
        try:
            self._file = path.open("x", encoding="utf-8")  # before the program starts, which could put a link there
        except OSError as error:
            self.error = f"{type(error).__name__}: {error}"

    def start(self, pid: int) -> None:
        if self._file:
            self._thread = threading.Thread(target=self._run, args=(pid, self._file), daemon=True)
            self._thread.start()

    def follow_server(self, pid: int) -> None:
        """Go on with a server that was started again; what it used before is in its figures."""
        if self._server:
            self._server.leader = pid

    def stop(self, _pid: int) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()

    def close(self) -> None:
        """Close the file where `start` may not have been called."""
        if self._file:
            self._file.close()

    def _run(self, pid: int, file: TextIO) -> None:
        try:
            with file:
                self._loop(self._sensors(pid), file)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
        self.cpu_seconds = time.thread_time()

    def _sensors(self, pid: int) -> list[ThrottledSensor]:
        """List what is not read for every sample; the process comes first, to have its very beginning."""
        group = ProcessGroup(pid)
        if self._usage:
            sensors, groups = [ThrottledSensor("process", self._usage)], {}
        else:
            self.open_files = OpenFiles(group)
            sensors = [ThrottledSensor("process", group.sample), ThrottledSensor("open files", self.open_files.look)]
            groups = {"waits": group}
        if self._server is not None:
            sensors.append(ThrottledSensor("server", self._server.sample))
            groups["server_waits"] = self._server
        for name, waiting in groups.items():
            threads = ThreadTimes(waiting, SELDOM, CHEAP)
            self._threads.append(threads)
            sensors.append(ThrottledSensor(name, threads.by_purpose))
        processors, energy = counters.Sensors(), counters.EnergyMeter()
        if self._data:
            database_size = partial(tree_size, self._data)
            sensors.append(ThrottledSensor("database_bytes", database_size, SLOW_PERIOD, 500, time.monotonic))
        sensors.append(ThrottledSensor("energy", energy.read))
        return [*sensors, ThrottledSensor("sensors", processors.read, SLOW_PERIOD)]

    def _loop(self, sensors: list[ThrottledSensor], file: TextIO) -> None:
        start, ticks, over = time.monotonic(), 0, False
        while True:
            file.write(json.dumps(self._sample(sensors, over), separators=(",", ":")) + "\n")
            file.flush()
            if over:
                return
            ticks = max(ticks + 1, int((time.monotonic() - start) / SECOND) + 1)
            over = self._wait_until(start + ticks * SECOND)

    def _wait_until(self, end: float) -> bool:
        """Look at the threads meanwhile; True as soon as the step has ended."""
        while not self._over.is_set() and (now := time.monotonic()) < end:
            for threads in self._threads:
                if threads.next <= now:
                    threads.look()
            self._over.wait(max(0.0, min([end, *(threads.next for threads in self._threads)]) - time.monotonic()))
        return self._over.is_set()

    def _sample(self, sensors: list[ThrottledSensor], last: bool) -> dict[str, object]:
        sample: dict[str, object] = {"t": round(time.time(), 3), "monotonic": round(time.monotonic(), 4)}
        sample |= counters.host(self._device, self._devices)
        for sensor in sensors:
            if last or sensor.is_due:
                reading = sensor.look()
                if reading is not None:
                    sample[sensor.name] = reading
        return sample


MULTIPLE = 300  # of the time that the last look took: how long the sensor is left alone at least
EARLY = 0.05  # seconds: what is due with the next tick may not miss it by a hair


class ThrottledSensor:
    """The dearer a look is, the seldomer it is taken.

    `clock` tells the price: a look that waits for a disk is dear without using a processor.
    """

    def __init__(
        self,
        name: str,
        look: Callable[[], Any],
        least: float = 0.0,
        multiple: int = MULTIPLE,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.name, self._look, self._least, self._multiple, self._clock = name, look, least, multiple, clock
        self._next = 0.0

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    def look(self) -> Any:
        """Read the sensor; None where it has nothing."""
        start, cost = time.monotonic(), self._clock()
        reading = self._look()
        self._next = start + max(self._least, self._multiple * (self._clock() - cost)) - EARLY
        return None if reading == {} else reading


# The processes of one process group and all that they started: CPU, memory and IO, also of those that ended.

IO = {name: f"{name}:".encode() for name in ("read_bytes", "write_bytes")}
CUMULATIVE = ("user", "system", "faults", *IO)
PARENT, GROUP, FLAGS = 1, 2, 6  # in /proc/PID/stat behind the name
EXITING = 0x4  # PF_EXITING of the kernel's sched.h
FAULTS = (7, 8, 9, 10)  # minor, of children, major, of children: 10 to 13 of proc(5)
USER, SYSTEM, THREADS, RSS = 11, 12, 17, 21  # 14, 15, 20, 24 of proc(5)
ATTEMPTS = 5  # to read all members before one of them is waited for
WAITED = 2  # so many fields further stands what children used that were waited for


class ProcessGroup:
    """A child that leads a group or a session of its own, as each backend of Postgres does, belongs to it as well.

    A process that leads none is one with its children.
    """

    def __init__(self, leader: int) -> None:
        self.leader = leader
        self._last_leader = leader
        self._membership: dict[int, bool] = {}  # of every process of the host: read once per process
        self._last: dict[int, Mapping[str, float]] = {}
        self._parents: dict[int, int] = {}  # of the members
        self._ended: dict[str, float] = {}  # the use of members that have ended

    def sample(self) -> dict[str, float]:
        """Sum over the group; a counter that one process does not let us read is absent."""
        for _ in range(ATTEMPTS):
            members = self.members()
            readings = self._readings(members)
            # one that its parent waited for meanwhile may be in neither reading, or in both
            if len(readings) == len(members) and all(Path(f"/proc/{pid}").exists() for pid in members):
                break
        for pid in self._last.keys() - readings.keys():
            if self._parents.get(pid) not in readings:  # else it is in what its parent says by now
                for name in CUMULATIVE:
                    if name in self._last[pid]:
                        self._ended[name] = self._ended.get(name, 0) + self._last[pid][name]
        self._last = readings
        self._parents = {pid: self._parents[pid] for pid in readings}
        names = set.intersection(*(set(reading) for reading in readings.values())) if readings else set()
        return {
            name: sum(reading[name] for reading in readings.values()) + self._ended.get(name, 0)
            for name in sorted(names)
        }

    def _readings(self, members: Iterable[int]) -> dict[int, Mapping[str, float]]:
        readings: dict[int, Mapping[str, float]] = {}
        for pid in members:
            if reading := self._process(pid):
                # of a process that has just ended only root reads the IO: the last reading stands for it
                last = self._last.get(pid, {})
                readings[pid] = {name: last[name] for name in CUMULATIVE if name in last} | reading
        return readings

    def members(self) -> list[int]:
        pids = {int(name) for name in os.listdir("/proc") if name.isdecimal()}  # noqa: PTH208 - every second
        if self._last_leader != self.leader:
            self._last_leader, self._membership = self.leader, {}
        for pid in self._membership.keys() - pids:
            del self._membership[pid]
        new = {pid: fields for pid in pids - self._membership.keys() if (fields := _fields(pid))}
        self._membership |= {pid: self.leader in (pid, int(fields[GROUP])) for pid, fields in new.items()}
        self._adopt({pid: int(fields[PARENT]) for pid, fields in new.items()})
        return [pid for pid, is_member in self._membership.items() if is_member]

    def _adopt(self, parents: Mapping[int, int]) -> None:
        """Add children of members; a child may have a lower number than its parent, so once is not enough."""
        strangers = [pid for pid in parents if not self._membership[pid]]
        while children := [pid for pid in strangers if self._membership.get(parents[pid])]:
            self._membership |= dict.fromkeys(children, True)
            strangers = [pid for pid in strangers if not self._membership[pid]]

    def _process(self, pid: int) -> dict[str, float]:
        """Read one process. The kernel adds what a child used to its parent when that waits for it: so does its IO."""
        fields = _fields(pid)
        if not fields:
            return {}
        self._parents[pid] = int(fields[PARENT])
        user, system = ((int(fields[index]) + int(fields[index + WAITED])) / TICK for index in (USER, SYSTEM))
        rss = 0 if int(fields[FLAGS]) & EXITING else int(fields[RSS]) * PAGE  # else some of what it gives back
        words = _read(f"/proc/{pid}/io").split()
        io = dict(zip(words[::2], words[1::2], strict=False))
        faults = sum(int(fields[index]) for index in FAULTS)
        reading = {"user": user, "system": system, "faults": faults, "threads": int(fields[THREADS]), "rss": rss}
        return reading | {name: int(io[key]) for name, key in IO.items() if key in io}


# The threads of a process group: how long they ran, waited for a processor, and slept, by function of the kernel

RUNNING, RUNNABLE = "running", "waiting for a CPU"
UNNAMED = {b"D": "uninterruptible sleep", b"S": "interruptible sleep"}  # by state, where wait channels are hidden
DISK, LOCK, TIMER, PEER, OTHER = "disk", "lock", "timer", "peer", "other"  # what a thread sleeps for
SLEEPS: Mapping[str, tuple[str, ...]] = {  # beginnings of wait channels; uninterruptible sleep is for a disk
    LOCK: ("futex", "do_futex", "__futex", "do_semtimedop", "fcntl_setlk", "locks_lock"),
    TIMER: ("hrtimer_nanosleep", "do_nanosleep", "common_nsleep", "clock_nanosleep"),
    PEER: (
        *("do_epoll", "ep_poll", "do_poll", "do_sys_poll", "do_select", "poll_schedule", "pipe_", "anon_pipe", "sk_"),
        *("unix_", "inet_", "tcp_", "__skb_wait", "skb_", "wait_woken", "netlink_"),
    ),
    DISK: (
        *("folio_wait", "__folio", "wait_on_page", "submit_bio", "bio_", "blk_", "blkdev_", "io_schedule", "jbd2_"),
        *("__sync_dirty", "sync_dirty", "wait_on_buffer", "__wait_on_buffer", "ext4_", "xfs_", "btrfs_", "f2fs_"),
        *("filemap_", "balance_dirty", "read_events", "io_cqring", "__iomap", "iomap_", "nfs_", "rpc_"),
    ),
}
WAITS = (RUNNING, RUNNABLE, DISK, LOCK, TIMER, PEER, OTHER)
SLOT = 1.0  # seconds of a thread that count, or do not
WORKING = 0.002  # of a slot: a thread that ran less, and did not wait for a disk, was idle
LOOK = 1 / 47  # seconds; not a round number: nothing that runs by the clock is always, or never, met
PRICE = 0.05  # of a processor, at most
SELDOM, CHEAP = 1 / 13, 0.003  # the same, of looks beside a step that is measured

Sleep: TypeAlias = tuple[bytes, str]  # state, wait channel


class ThreadTimes:
    """Seconds of a group's threads by what they did. The kernel sums up running and waiting; looks divide the sleep.

    Idle threads do not count: all those of a pool are asleep, and would hide what the others wait for."""

    def __init__(self, group: ProcessGroup, least: float = LOOK, price: float = PRICE) -> None:
        self._group, self._least, self._price = group, least, price
        self._threads: list[_Thread] = []
        self._slot_end = -math.inf
        self._sums = {RUNNING: 0.0, RUNNABLE: 0.0}
        self._sleeps: dict[Sleep, float] = {}  # seconds
        self._unseen = 0.0  # asleep in slots without a look at it
        self.next = 0.0  # look

    def look(self) -> float:
        """Look at each thread; return the seconds until the next look."""
        now, before = time.monotonic(), time.thread_time()
        if now >= self._slot_end:
            self._close_slot()
            self._threads = [_Thread(folder, now) for pid in self._group.members() for folder in _thread_folders(pid)]
            self._slot_end = now + SLOT
        for thread in self._threads:
            thread.look(now)
        pause = max(self._least, (time.thread_time() - before) / self._price)
        self.next = now + pause
        return pause

    def seconds(self) -> dict[str, float]:
        """Sum up by name, and begin another slot."""
        seconds = self._named(lambda state, channel: channel or UNNAMED[state])
        return {name: value for name, value in seconds.items() if value}

    def by_purpose(self) -> dict[str, float]:
        """Sum up by what threads slept for, and begin another slot."""
        seconds = dict.fromkeys(WAITS, 0.0) | self._named(_purpose)
        return {name: round(value, 6) for name, value in seconds.items()}

    def _named(self, name_of: Callable[[bytes, str], str]) -> dict[str, float]:
        self._close_slot()
        self._slot_end = -math.inf
        seconds = dict(self._sums)
        for sleep, value in self._sleeps.items():
            name = name_of(*sleep)
            seconds[name] = seconds.get(name, 0.0) + value
        return seconds

    def _close_slot(self) -> None:
        looks: Counter[Sleep] = Counter()
        while self._threads:  # SIGINT may come at any line: nothing counts twice
            thread = self._threads.pop()
            length = thread.until - thread.began
            running, waiting = ((end - start) / 1e9 for start, end in zip(thread.first, thread.last, strict=True))
            if thread.waited_for_disk or running > WORKING * length:
                self._sums[RUNNING] += running
                self._sums[RUNNABLE] += waiting
                looks.update(thread.looks)
                self._unseen += max(0.0, length - running - waiting)
        if not looks:
            return
        per_look, self._unseen = self._unseen / looks.total(), 0.0
        for state in UNNAMED:
            part = Counter({sleep: count for sleep, count in looks.items() if sleep[0] == state})
            total = part.total()
            del part[state, ""]  # the kernel dequeues some sleepers late, and names none in its queues
            for sleep, count in part.items() or ([((state, ""), total)] if total else []):
                seconds = per_look * total * count / (part.total() or total)
                self._sleeps[sleep] = self._sleeps.get(sleep, 0.0) + seconds


def _purpose(state: bytes, channel: str) -> str:
    """Tell what a thread sleeps for: interruptible sleep without a name is for anything."""
    for purpose, beginnings in SLEEPS.items():
        if channel.startswith(beginnings):
            return purpose
    return DISK if state == b"D" else OTHER


class _Thread:
    """A thread in one slot. A sleep lasts until the thread has run."""

    def __init__(self, folder: str, now: float) -> None:
        self._folder, self.began, self.until = folder, now, now
        self._schedstat, self._sleep = b"", (b"", "")  # state, wait channel
        self.first = self.last = (0, 0)  # nanoseconds: running, waiting for a processor
        self.looks: Counter[tuple[bytes, str]] = Counter()
        self.waited_for_disk = False

    def look(self, now: float) -> None:
        schedstat = _read(f"{self._folder}/schedstat")
        if not schedstat:  # it ended
            return
        if schedstat != self._schedstat or not self._sleep[1]:
            channel = _read(f"{self._folder}/wchan").decode()  # before the state: sleeps may be short
            channel = "" if channel == "0" else channel
            state = _read(f"{self._folder}/stat").rpartition(b") ")[2][:1]
            self._sleep = (b"S" if channel and state not in UNNAMED else state, channel)
            self.waited_for_disk |= state == b"D"
        running, waiting, _ = map(int, schedstat.split())
        self.first = self.first if self._schedstat else (running, waiting)
        self.last, self.until, self._schedstat = (running, waiting), now, schedstat
        if self._sleep[0] in UNNAMED:
            self.looks[self._sleep] += 1


def _thread_folders(pid: int) -> list[str]:
    try:
        return [f"/proc/{pid}/task/{name}" for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - many a second
    except OSError:
        return []


class OpenFiles:
    """Files that a group's processes had open for reading, or mapped, at any look."""

    MOST = 1000  # paths: a step that opens more is not described by a list

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        self.paths: set[str] = set()

    def look(self) -> dict[str, str]:
        """Add what is open now; a sample gets nothing of it."""
        for pid in self._group.members() if len(self.paths) < self.MOST else ():
            self.paths.update(_mapped_files(pid), _opened_files(pid, self.paths))
        return {}


def _mapped_files(pid: int) -> set[str]:
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as lines:  # noqa: PTH123
            return {line[line.index("/") :].rstrip("\n") for line in lines if "/" in line}
    except OSError:
        return set()


def _opened_files(pid: int, known_paths: Set[str]) -> set[str]:
    paths: set[str] = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - every second
            path = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115
            if path.startswith("/") and path not in known_paths:
                words = _read(f"/proc/{pid}/fdinfo/{name}").split()
                if b"flags:" in words and int(words[words.index(b"flags:") + 1], 8) & os.O_ACCMODE == os.O_RDONLY:
                    paths.add(path)
    except (OSError, IndexError, ValueError):  # it ended or closed the file meanwhile
        pass
    return paths


def _fields(pid: int) -> list[bytes]:
    """Read /proc/PID/stat behind the name, which may hold blanks: state, ppid, pgrp, …"""
    return _read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()


def _read(path: str) -> bytes:
    """Read without Python's files, which cost more than the kernel's answer: there may be hundreds a second."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 4096)
    except OSError:  # it ended in between, or the counters are not ours to read
        return b""
    finally:
        os.close(descriptor)
