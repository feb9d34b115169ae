"""The processes of one process group: CPU, memory and IO of all that a step started, also of those that ended."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from compiler.run.counters import TICK

PAGE = os.sysconf("SC_PAGESIZE")
CUMULATIVE = ("user", "system", "read_bytes", "write_bytes")


class Group:
    def __init__(self, leader: int) -> None:
        self.leader = leader
        self._groups: dict[int, int] = {}  # every process of the host -> its group: read once per process
        self._last: dict[int, Mapping[str, float]] = {}
        self._gone: dict[str, float] = {}

    def sample(self) -> dict[str, float]:
        """Sums over the group; a counter that one process does not let us read is absent."""
        found = {pid: _process(pid) for pid in self._members()}
        now: dict[int, Mapping[str, float]] = {pid: self._carried(pid) | own for pid, own in found.items() if own}
        for pid in self._last.keys() - now.keys():
            self._keep(self._last[pid])
        self._last = now
        return self._sum(list(now.values()))

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

    def _members(self) -> list[int]:
        there = {int(name) for name in os.listdir("/proc") if name.isdecimal()}  # noqa: PTH208 - every second
        for pid in self._groups.keys() - there:
            del self._groups[pid]
        for pid in there - self._groups.keys():
            if fields := _fields(pid):
                self._groups[pid] = int(fields[2])
        return [pid for pid, group in self._groups.items() if group == self.leader]


def _fields(pid: int) -> list[str]:
    """/proc/PID/stat behind the name, which may hold blanks: state, ppid, pgrp, …"""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].decode().split()
    except OSError:
        return []


def _process(pid: int) -> dict[str, float]:
    fields = _fields(pid)
    if not fields:
        return {}
    user, system, threads, rss = (int(fields[index]) for index in (11, 12, 17, 21))  # proc(5): 14, 15, 20, 24
    return {"user": user / TICK, "system": system / TICK, "threads": threads, "rss": rss * PAGE, **_io(pid)}


def _io(pid: int) -> dict[str, float]:
    try:
        text = Path(f"/proc/{pid}/io").read_text()
    except OSError:
        return {}
    return {name: int(count) for name, count in re.findall(r"^(read_bytes|write_bytes): (\d+)$", text, re.MULTILINE)}
