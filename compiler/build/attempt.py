"""A build's attempts: what a failed one leaves behind, and clearing up after one that was killed."""

from __future__ import annotations

import shutil
from pathlib import Path

from compiler.run.failure import end_of
from compiler.store.durable import write_json
from compiler.store.store import Store

LOG, FAILURE = "build.log", "failure.json"


def fail(attempt: Path, build: str, status: str, message: str) -> str:
    """Keeps why and the log, drops the rest; gives the end of the log."""
    log = attempt / LOG
    tail = end_of(log)
    clear(attempt)
    failure = {"node": build, "attempt": attempt.name, "status": status, "step": None, "message": message}
    write_json(attempt / FAILURE, {**failure, "tail": tail, "log": str(log)})
    return tail


def sweep(store: Store, build: str) -> None:
    """Under the build's lock an attempt that says nothing of its end was killed."""
    for attempt in store.attempts(build):
        if not (attempt / FAILURE).exists():
            fail(attempt, build, "interrupted", "the build was killed")


def clear(attempt: Path) -> None:
    for entry in attempt.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != LOG:
            entry.unlink(missing_ok=True)
