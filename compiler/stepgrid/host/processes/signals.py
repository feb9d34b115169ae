"""Signals and deaths: how jobs and runs end by a signal, and who ends with whom."""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from stepgrid.host import files
from stepgrid.model.records import AttemptRecord, JournalEvent, parse_record

if TYPE_CHECKING:
    from subprocess import Popen

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interrupted(BaseException):
    """Not an Exception: nothing but the end of the stage may catch it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def interrupt_on_signals() -> None:
    """End a job at once, by an exception in the main thread."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for other in ENDING_SIGNALS:  # a second Ctrl-C must not disturb the clearing up
            signal.signal(other, ignore_signal)
        raise Interrupted(number)

    for number in ENDING_SIGNALS:
        signal.signal(number, interrupt)


def ignore_signal(_number: int, _frame: FrameType | None) -> None:
    """Not SIG_IGN: Python would print of a signal that came just before that it was "ignored due to race condition"."""


# While no job runs there is nothing to lose: the process ends at once and without a traceback.

GUARDS: dict[int, Popen[bytes]] = {}  # processes of ours that are no jobs: they wait for the end of this one

_exit_status = 1


def exit_on_signals(status: int | None = None) -> None:
    """Exit at once on a signal, also when nobody reads the output any more, as in `snakemake -n | head`."""
    global _exit_status
    _exit_status = _exit_status if status is None else status

    def leave(number: int, _frame: FrameType | None) -> NoReturn:
        with suppress(OSError):
            os.write(2, f"stopped by {signal.Signals(number).name} before anything was started\n".encode())
        exit_now()

    for number in ENDING_SIGNALS:
        signal.signal(number, leave)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def guard_folder(folder: Path) -> int:
    """Start a process that removes a folder after this process has ended, `kill -9` included; return its id.

    Snakemake removes its temporary folder itself, unless it is killed."""
    from subprocess import DEVNULL, PIPE, Popen

    remove = ["sh", "-c", 'read -r _; exec rm -rf -- "$1"', "sh", str(folder)]
    process = Popen(remove, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, cwd="/", start_new_session=True)
    GUARDS[process.pid] = process
    return process.pid


def exit_now(status: int | None = None) -> NoReturn:
    """Exit without waiting for Snakemake's threads and timers, or for DuckDB to be taken apart: these take long."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_exit_status if status is None else status)


# A runner ends with its parent, its children with the runner.

PR_SET_PDEATHSIG = 1
PARENT = "STEPGRID_PARENT"  # the pid that a rule's shell saw as its parent: closes the gap before we look ourselves


class OrphanedError(Exception):
    """The process that started this runner is gone."""


def follow_parent() -> None:
    """Get SIGTERM when the parent dies; refuse to start when it is dead already."""
    parent = int(os.environ.get(PARENT) or os.getppid())
    _prctl()(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise OrphanedError(f"the process {parent} that started this job is gone")


def die_with_parent() -> Callable[[], None]:
    """Make a function for the child, between fork and exec: SIGKILL when this process dies, or died just now."""
    parent, prctl = os.getpid(), _prctl()

    def follow() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)

    return follow


def _prctl() -> Callable[[int, int], int]:
    import ctypes  # not for commands that start nothing

    return ctypes.CDLL(None, use_errno=True).prctl


# The kernel ends the programs of a killed runner with it, but not what these programs started.

MARK = "STEPGRID_RUNNING"  # in their environment: the attempt of a stage, for all that its job starts, daemons too
STARTED, SERVER = "started", "server started"  # the journal's events that name a process group: of a step, of a server
ROUNDS, PAUSE = 100, 0.02  # between two looks: who was killed is gone by then, who was just forked is seen


def kill_attempt(journal: Path, roots: Collection[Path]) -> None:
    """Kill who carries the attempt's mark, and who is in a process group of its journal, at work below the roots."""
    attempt = journal.parent
    kill_marked(MARK, attempt)
    hostname = files.read_record(attempt / "attempt.json", AttemptRecord).hostname or platform.node()
    groups = set(_journal_groups(journal)) if hostname == platform.node() else set()  # numbers of another host: no
    for pid in _pids() if groups else ():
        with suppress(OSError):
            if os.getpgid(pid) in groups and any(_works_below(pid, root.resolve()) for root in roots):
                os.kill(pid, signal.SIGKILL)


def kill_marked(name: str, attempt: Path) -> None:
    """Kill whoever carries the attempt's path under that name, until nobody does."""
    mark = f"{name}={attempt.absolute()}".encode()
    for _ in range(ROUNDS):
        pids = [pid for pid in _pids() if _is_marked(pid, mark)]
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not pids:
            return
        time.sleep(PAUSE)


def _is_marked(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it ended, or is another user's
        return False


def _journal_groups(journal: Path) -> Iterator[int]:
    with suppress(OSError), journal.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with suppress(ValueError):  # the last line may be half written
                event = parse_record(line, JournalEvent)
                if event.event in (STARTED, SERVER) and event.pid is not None:
                    yield event.pid


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _works_below(pid: int, root: Path) -> bool:
    """Look for its folder or an open file below the root: the number alone may belong to somebody else by now."""
    links = (Path(f"/proc/{pid}/cwd"), *Path(f"/proc/{pid}/fd").iterdir())
    return any(link.readlink().is_relative_to(root) for link in links)
