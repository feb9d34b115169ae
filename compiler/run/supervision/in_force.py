"""Whether a program runs as `launch:` asked: looked up in /proc, not believed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compiler.run import sysfs
from compiler.run.supervision.cgroup_trees import limit
from compiler.run.supervision.launch import LaunchError, library, nodes

PATIENCE = 2.0  # seconds that a program has to become what was asked: first it is numactl, then the loader
PERIOD = 0.002
WRAPPERS = ("numactl", "taskset", "systemd-run")
PAGE = os.sysconf("SC_PAGESIZE")
ENDED = "it ended before it could be looked at"


def watched(pid: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What was seen of a program that was just started. LaunchError: something that was asked for is not in force."""
    if not any(asked.get(name) for name in ("cpus", "numa", "malloc", "memory")):
        return {}
    until = time.monotonic() + PATIENCE
    while (complaint := in_force(pid, asked)) and time.monotonic() < until and not _has_ended(pid):
        time.sleep(PERIOD)
    if complaint and _has_ended(pid):
        return {"ended": ENDED}
    if complaint:
        raise LaunchError(complaint)
    return seen(pid, asked)


def in_force(pid: int, asked: Mapping[str, Any]) -> str | None:
    """A sentence about the first thing that is not; None when all of it is."""
    if (program := _program(pid)) in WRAPPERS:
        return f"{program} has not started the program yet"
    found = seen(pid, asked)
    return next((said for name in found if (said := _complaint(name, asked[name], found[name]))), None)


def seen(pid: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was asked for, how it is; None where /proc does not tell."""
    found: dict[str, Any] = {}
    if asked.get("cpus"):
        found["cpus"] = _cpus(pid)
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


def _cpus(pid: int) -> str | None:
    return _status(pid, "Cpus_allowed_list")


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


def _program(pid: int) -> str | None:
    try:
        return (sysfs.ROOT / f"proc/{pid}/exe").readlink().name
    except OSError:
        return None


def _has_ended(pid: int) -> bool:
    state = _status(pid, "State")
    return state is None or state.startswith(("Z", "X"))
