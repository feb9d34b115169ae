"""Whether a program is started as `launch:` asked: looked up in /proc while it waits at its gate, not believed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from stepgrid.host import sysfs
from stepgrid.host.processes import child_process, launch_gate
from stepgrid.host.processes.cgroup_hierarchy import limit
from stepgrid.host.processes.launch import LaunchError, library, nodes

PATIENCE = 2.0  # seconds that the loader has to map an allocator
PERIOD = 0.002
PAGE = os.sysconf("SC_PAGESIZE")
ENDED = "it ended before it was started"


def watched(pid: int, asked: Mapping[str, Any], first: Callable[[], None] | None = None) -> dict[str, Any]:
    """What was seen of a program at its gate, which is then opened. LaunchError: something asked is not in force.

    `first`: what is done before, of a program that waits for it.
    """
    if first is None and not launch_gate.needed(asked):
        return {}
    if not launch_gate.reached(pid):
        return _never_started(pid)
    if complaint := in_force(pid, asked):
        raise LaunchError(complaint)
    found = seen(pid, asked)
    if first:
        first()
    launch_gate.open_gate(pid)
    if asked.get("malloc"):
        _mapped_by_the_program(pid, str(asked["malloc"]))
    return found


def in_force(pid: int, asked: Mapping[str, Any]) -> str | None:
    """A sentence about the first thing that is not; None when all of it is."""
    found = seen(pid, asked)
    return next((said for name in found if (said := _complaint(name, asked[name], found[name]))), None)


def _never_started(pid: int) -> dict[str, Any]:
    """Whatever ended before the gate says why by its exit status."""
    if _has_ended(pid):
        return {"ended": ENDED}
    raise LaunchError(
        f"the program was not started within {launch_gate.PATIENCE:g} s: what `launch` puts before it hangs"
    )


def _mapped_by_the_program(pid: int, malloc: str) -> None:
    """The shell at the gate has loaded it; whether the program does is seen only when the program runs."""
    until = time.monotonic() + PATIENCE
    while not (launch_gate.passed(pid) and _mapped(pid, malloc)):
        if _has_ended(pid):
            return _unseen(pid, malloc)
        if time.monotonic() > until:
            raise LaunchError(f"`malloc: {malloc}` is not in force: its library is not mapped")
        time.sleep(PERIOD)
    return None


def _unseen(pid: int, malloc: str) -> None:
    """A program that failed says so by its exit status."""
    if child_process.ended(pid) == 0:
        raise LaunchError(f"`malloc: {malloc}` cannot be verified: the program ended before its library was looked at")


def seen(pid: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was asked for, how it is; None where /proc does not tell."""
    found: dict[str, Any] = {}
    if asked.get("cpus"):
        found["cpus"] = _status(pid, "Cpus_allowed_list")
    if asked.get("numa") and nodes() > 1:
        found["numa"] = _policy(pid)
    if asked.get("malloc"):
        found["malloc"] = _mapped(pid, str(asked["malloc"]))
    if asked.get("memory"):
        found["memory"] = limit(pid)
    return found


def _complaint(name: str, asked: Any, found: Any) -> str | None:
    if found is None:
        missing = "its library is not mapped" if name == "malloc" else "/proc does not say so"
        return f"`{name}: {asked}` is not in force: {missing}"
    return f"`{name}: {asked}` is not in force: it has {found}" if _differs(name, asked, found) else None


def _differs(name: str, asked: Any, found: Any) -> bool:
    if name == "cpus":
        return processors(str(asked)) != processors(str(found))
    if name == "numa":
        return not str(found).startswith(str(asked))
    return name == "memory" and int(found) // PAGE != int(asked) // PAGE


def processors(text: str) -> frozenset[int]:
    """Of a list such as 0-3,8 or 0-6:2, as taskset takes it."""
    found: set[int] = set()
    for first, last, step in re.findall(r"(\d+)(?:-(\d+))?(?::(\d+))?", text):
        found |= set(range(int(first), int(last or first) + 1, int(step or 1)))
    return frozenset(found)


def listed(numbers: Iterable[int]) -> str:
    """As the kernel lists processors: 0-2,5."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _policy(pid: int) -> str | None:
    """That of the stack: the program's own, where it did not choose another for a part of its memory."""
    lines = (sysfs.text(f"proc/{pid}/numa_maps") or "").splitlines()
    words = next((line.split() for line in lines if " stack" in line), lines[0].split() if lines else [])
    return words[1] if len(words) > 1 else None


def _mapped(pid: int, malloc: str) -> str | None:
    path = library(malloc)
    real = str(Path(path).resolve())
    maps = sysfs.text(f"proc/{pid}/maps") or ""
    return path if real in maps or path in maps else None


def _status(pid: int, key: str) -> str | None:
    found = re.search(rf"^{key}:\s*(.*)$", sysfs.text(f"proc/{pid}/status") or "", re.MULTILINE)
    return found[1] if found else None


def _has_ended(pid: int) -> bool:
    state = _status(pid, "State")
    return state is None or state.startswith(("Z", "X"))
