"""One child process from start to end: own process group, logs in files, a deadline, and no way to outlive us."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from resource import struct_rusage

from compiler.run.processes import die_with_parent

LONGEST = 1_000_000  # seconds that poll(2) can wait: 2^31 ms
TO_STOP = 5.0  # seconds between SIGTERM and SIGKILL
KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LD_LIBRARY_PATH")  # of our environment

Watch = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended; `exit` is the exit status, or minus the number of the signal that killed it."""

    exit: int
    overdue: bool
    started: str
    ended: str
    seconds: float
    user: float
    system: float
    max_rss: int  # bytes


class MissingError(Exception):
    """The program is not there or cannot be executed."""


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
) -> Ended:
    """Runs it to its end; `started` and `ending` get the pid while the process can still be looked at."""
    began, at = time.monotonic(), _now()
    child = _spawn(argv, env, folder)
    try:
        started(child.pid)
        overdue = not _wait(child.pid, deadline)
        if overdue:
            _stop(child.pid)
        seconds, ended = time.monotonic() - began, _now()
        ending(child.pid)
    finally:
        _kill(child.pid)  # of a process that ended well: whatever it left behind in its group
        status, usage = _reap(child)
    return Ended(status, overdue, at, ended, seconds, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024)


def _spawn(argv: Sequence[str], env: Mapping[str, str], folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        try:
            return subprocess.Popen(
                list(argv),
                cwd=folder,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                process_group=0,
                preexec_fn=die_with_parent(),
            )
        except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
            raise MissingError(f"the program {argv[0]} cannot be started: {error.strerror}") from None


def _wait(pid: int, seconds: float) -> bool:
    """Whether it ended within that time; it stays a zombie, so that its id and its counters are still there."""
    descriptor = os.pidfd_open(pid)
    try:
        poll, end = select.poll(), time.monotonic() + seconds
        poll.register(descriptor, select.POLLIN)
        while (left := end - time.monotonic()) > LONGEST:
            if poll.poll(LONGEST * 1000):
                return True
        return bool(poll.poll(max(left, 0.0) * 1000))
    finally:
        os.close(descriptor)


def _stop(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGTERM)
    if not _wait(pid, TO_STOP):
        _kill(pid)
        _wait(pid, 60.0)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _reap(child: subprocess.Popen[bytes]) -> tuple[int, struct_rusage]:
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # else Popen warns, and waits for a pid that is no longer ours
    return child.returncode, usage


def _now() -> str:
    return datetime.now(UTC).isoformat()
