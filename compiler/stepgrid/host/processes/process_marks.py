"""Processes that carry a mark in their environment: what a job started is found by it, also as a daemon."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "STEPGRID_RUNNING"  # the attempt of a stage, for all that its job starts

_ROUNDS, _PAUSE = 100, 0.02  # between two looks: who was killed is gone by then, who was just forked is seen


def end(name: str, attempt: Path) -> None:
    """Kills whoever carries the attempt's path under that name, until nobody does."""
    mark = f"{name}={attempt.absolute()}".encode()
    for _ in range(_ROUNDS):
        found = list(_carrying(mark))
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return
        time.sleep(_PAUSE)


def _carrying(mark: bytes) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        with suppress(OSError):  # it ended, or is another user's
            if entry.name.isdecimal() and mark in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
