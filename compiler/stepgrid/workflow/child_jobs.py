"""The jobs of this process: its direct children, whichever thread started them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def pids() -> list[int]:
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that just ended
            found += [int(pid) for pid in (task / "children").read_text().split()]
    return found


def tell(number: int) -> None:
    """Sends a signal to each."""
    for pid in pids():
        with suppress(ProcessLookupError):
            os.kill(pid, number)
