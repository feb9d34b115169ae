"""The processes of one process group and all that they started: CPU, memory and IO, also of those that ended."""

from __future__ import annotations

import os
from collections.abc import Mapping, Set

from stepgrid.host.sampling.counters import TICK

PAGE = os.sysconf("SC_PAGESIZE")
IO = {name: f"{name}:".encode() for name in ("read_bytes", "write_bytes")}
CUMULATIVE = ("user", "system", *IO)
PARENT, GROUP, FLAGS = 1, 2, 6  # in /proc/PID/stat behind the name
EXITING = 0x4  # PF_EXITING of the kernel's sched.h
USER, SYSTEM, THREADS, RSS = 11, 12, 17, 21  # 14, 15, 20, 24 of proc(5)
WAITED = 2  # fields further stands what children used that were waited for


class ProcessGroup:
    """A child that leads a group or a session of its own, as each backend of Postgres does, belongs to it as well.

    A process that leads none is one with its children.
    """

    def __init__(self, leader: int) -> None:
        self.leader = leader
        self._inside: dict[int, bool] = {}  # every process of the host, whether it belongs: read once per process
        self._last: dict[int, Mapping[str, float]] = {}
        self._parents: dict[int, int] = {}  # of those, by now
        self._gone: dict[str, float] = {}

    def sample(self) -> dict[str, float]:
        """Sums over the group; a counter that one process does not let us read is absent."""
        found = {pid: self._process(pid) for pid in self.members()}
        now: dict[int, Mapping[str, float]] = {pid: self._carried(pid) | own for pid, own in found.items() if own}
        for pid in self._last.keys() - now.keys():
            if self._parents.get(pid) not in now:  # else it is in what its parent says by now
                self._keep(self._last[pid])
        self._last = now
        self._parents = {pid: self._parents[pid] for pid in now}
        return self._sum(list(now.values()))

    def members(self) -> list[int]:
        there = {int(name) for name in os.listdir("/proc") if name.isdecimal()}  # noqa: PTH208 - every second
        for pid in self._inside.keys() - there:
            del self._inside[pid]
        new = {pid: fields for pid in there - self._inside.keys() if (fields := _fields(pid))}
        self._inside |= {pid: self.leader in (pid, int(fields[GROUP])) for pid, fields in new.items()}
        self._adopt({pid: int(fields[PARENT]) for pid, fields in new.items()})
        return [pid for pid, inside in self._inside.items() if inside]

    def _adopt(self, parents: Mapping[int, int]) -> None:
        """A child may have a lower number than its parent, so once is not enough."""
        left = [pid for pid in parents if not self._inside[pid]]
        while own := [pid for pid in left if self._inside.get(parents[pid])]:
            self._inside |= dict.fromkeys(own, True)
            left = [pid for pid in left if not self._inside[pid]]

    def _process(self, pid: int) -> dict[str, float]:
        """The kernel adds what a child used to its parent when that waits for it: so does its IO."""
        fields = _fields(pid)
        if not fields:
            return {}
        self._parents[pid] = int(fields[PARENT])
        user, system = ((int(fields[at]) + int(fields[at + WAITED])) / TICK for at in (USER, SYSTEM))
        rss = 0 if int(fields[FLAGS]) & EXITING else int(fields[RSS]) * PAGE  # else some of what it gives back
        found = {"user": user, "system": system, "threads": int(fields[THREADS]), "rss": rss}
        words = _read(f"/proc/{pid}/io").split()
        io = dict(zip(words[::2], words[1::2], strict=False))
        return found | {name: int(io[key]) for name, key in IO.items() if key in io}

    def _sum(self, parts: list[Mapping[str, float]]) -> dict[str, float]:
        names = set.intersection(*(set(part) for part in parts)) if parts else set()
        total = {name: sum(part[name] for part in parts) for name in sorted(names)}
        return {name: value + self._gone.get(name, 0) for name, value in total.items()}

    def _carried(self, pid: int) -> dict[str, float]:
        """What a process had used when it could last be read: of one that has just ended only root reads the IO."""
        last = self._last.get(pid, {})
        return {name: last[name] for name in CUMULATIVE if name in last}

    def _keep(self, values: Mapping[str, float]) -> None:
        for name in CUMULATIVE:
            if name in values:
                self._gone[name] = self._gone.get(name, 0) + values[name]


class OpenFiles:
    """Files that a group's processes had open for reading, or mapped, whenever it was looked."""

    MOST = 1000  # paths: a step that opens more is not described by a list

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        self.paths: set[str] = set()

    def look(self) -> dict[str, str]:
        """Add what is open now; a sample gets nothing of it."""
        for pid in self._group.members() if len(self.paths) < self.MOST else ():
            self.paths.update(_mapped(pid), _read_descriptors(pid, self.paths))
        return {}


def _mapped(pid: int) -> set[str]:
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as lines:  # noqa: PTH123
            return {line[line.index("/") :].rstrip("\n") for line in lines if "/" in line}
    except OSError:
        return set()


def _read_descriptors(pid: int, known_paths: Set[str]) -> set[str]:
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
    """/proc/PID/stat behind the name, which may hold blanks: state, ppid, pgrp, …"""
    return _read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()


def _read(path: str) -> bytes:
    """Without Python's files, which cost more than the kernel's answer: there may be hundreds a second."""
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
