"""What a killed attempt left running: a keeper ends its command with the job, unless somebody killed the keeper too."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from compiler.build.surroundings import COOKIE

_ROUNDS, _PAUSE = 100, 0.02  # between two looks: who was killed is gone by then, who was just forked is seen


def end(attempt: Path) -> None:
    """Kills whoever carries the attempt's name in its environment, until nobody does."""
    mark = f"{COOKIE}={attempt.absolute()}".encode()
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
