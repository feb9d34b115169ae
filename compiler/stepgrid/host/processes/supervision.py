"""One child process from start to end: own process group, logs in files, a deadline, and no way to outlive us."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from stepgrid.host import suspension
from stepgrid.host.processes import child_process, termination
from stepgrid.host.processes.cgroup import ControlGroup
from stepgrid.host.processes.child_process import MissingError as MissingError
from stepgrid.host.processes.orphans import MARK
from stepgrid.host.processes.unprivileged_user import User

KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LD_LIBRARY_PATH", MARK)  # of our environment

Watch = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a child ended; `exit` is the exit status, or minus the number of the signal that killed it."""

    exit: int
    overdue: bool
    started: str
    ended: str
    seconds: float
    user: float
    system: float
    max_rss: int  # bytes
    deserted: bool = False  # what it works with ended first, and so it was stopped
    halted: bool = False  # overdue, and in state T: somebody had stopped it
    suspended: float = 0.0  # seconds in which the host was, which `seconds` does not have
    out_of_memory: bool = False  # the kernel killed it, or a process that it started, for lack of memory


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Little of ours reaches the child: what is in someone's shell must not change a figure."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "LC_ALL": "C", **extra}


def supervise(
    argv: Sequence[str],
    env: Mapping[str, str],
    folder: Path,
    deadline: float,
    started: Watch,
    ending: Watch,
    beside: int | None = None,
    user: User | None = None,
    cage: ControlGroup | None = None,
) -> ProcessEnd:
    """Runs it to its end; `started` and `ending` get the pid while the process can still be looked at.

    `beside`: a child without which it is pointless. `user`: who it becomes.
    """
    began, at, suspended = time.monotonic(), _now(), suspension.seconds()
    child = child_process.spawn(argv, env, folder, user, cage)
    try:
        started(child.pid)
        first = child_process.wait(child.pid, deadline, beside)
        halted = first is None and child_process.halted(child.pid)
        if first != child.pid:
            termination.stop(child.pid)
        seconds, ended = time.monotonic() - began, _now()
        ending(child.pid)
    finally:
        termination.kill(child.pid)  # of a process that ended well: whatever it left behind in its group
        status, usage = child_process.reap(child)
    deserted, rss = first not in (None, child.pid), usage.ru_maxrss * 1024
    times = (at, ended, seconds, usage.ru_utime, usage.ru_stime)
    slept = suspension.seconds() - suspended
    slept = slept if slept > suspension.LEAST else 0.0
    out_of_memory = cage is not None and cage.ran_out
    return ProcessEnd(status, first is None, *times, rss, deserted, halted, slept, out_of_memory)


def _now() -> str:
    return datetime.now(UTC).isoformat()
