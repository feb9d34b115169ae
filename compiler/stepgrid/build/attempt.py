"""A build's attempts: what a failed one leaves behind, and clearing up after one that was killed."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stepgrid.build.environment_variables import COOKIE, TEMPORARY
from stepgrid.host import cluster_job
from stepgrid.host.failure import end_of_log
from stepgrid.host.files import write_json
from stepgrid.host.processes.signals import kill_marked
from stepgrid.store.heartbeat import beating
from stepgrid.store.status.running_attempt import RECORD
from stepgrid.store.store import Store
from stepgrid.store.timestamps import now

LOG, FAILURE = "build.log", "failure.json"
_KEPT = (LOG, FAILURE)
_HISTORY = ".git"


def fail(attempt: Path, build: str, status: str, message: str) -> str:
    """Keeps why and the log, drops the rest; gives the end of the log."""
    end(attempt)
    log = attempt / LOG
    tail = end_of_log(log)
    clear(attempt)
    failure = {"node": build, "attempt": attempt.name, "status": status, "step": None, "message": message}
    write_json(attempt / FAILURE, {**failure, "tail": tail, "log": str(log)})
    return tail


@contextmanager
def sign_of_life(attempt: Path) -> Iterator[None]:
    """On a cluster: that the build is under way, and where; other machines cannot see who holds its lock."""
    if not cluster_job.active():
        yield
        return
    said = {"started": now(), "pid": os.getpid(), "hostname": platform.node(), cluster_job.NODE: cluster_job.node()}
    write_json(attempt / RECORD, said, durable=False)
    try:
        with beating(attempt):
            yield
    finally:
        (attempt / RECORD).unlink(missing_ok=True)  # no part of the build


def sweep(store: Store, build: str) -> None:
    """Under the build's lock an attempt that says nothing of its end was killed.

    Of one that was killed during a run, the run has said so: what it left is there all the same.
    """
    for attempt in store.attempts(build):
        if not (attempt / FAILURE).exists():
            fail(attempt, build, "interrupted", "the build was killed")
        elif any(entry.name not in _KEPT for entry in attempt.iterdir()):
            end(attempt)
            clear(attempt)


def clear(attempt: Path) -> None:
    for entry in attempt.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, onerror=_again)
        elif entry.name not in _KEPT:
            entry.unlink(missing_ok=True)


def tidy(folder: Path) -> None:
    """Of a build that is made: no history of the tree that it was made of."""
    for parent, folders, files in os.walk(folder):
        if _HISTORY in folders:
            folders.remove(_HISTORY)
            shutil.rmtree(Path(parent, _HISTORY), onerror=_again)
        if _HISTORY in files:
            Path(parent, _HISTORY).unlink()


def remove_temporary(folder: Path) -> None:
    """Of a build that no program works on any more; several may at the same time."""
    shutil.rmtree(folder / TEMPORARY, ignore_errors=True)


def _again(remove: Callable[[str], Any], name: str, _why: object) -> None:
    """Some programs make their folders read-only, which nobody but root can empty then."""
    with suppress(OSError):
        Path(name).parent.chmod(0o700)
        if Path(name).is_dir() and not Path(name).is_symlink():
            Path(name).chmod(0o700)
            shutil.rmtree(name, ignore_errors=True)
        else:
            remove(name)


# What a killed attempt left running: a keeper ends its command with the job, unless somebody killed the keeper too.


def end(attempt: Path) -> None:
    kill_marked(COOKIE, attempt)
