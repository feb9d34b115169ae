"""How a process that takes too long is ended: SIGTERM to its group, some seconds, SIGKILL."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from stepgrid.host.processes.child_process import wait

TO_STOP = 5.0  # seconds between SIGTERM and SIGKILL
TO_VANISH = 60.0  # after SIGKILL: a process in the kernel's hands goes when its last write is through


def stop(pid: int, number: signal.Signals = signal.SIGTERM, patience: float = TO_STOP) -> bool:
    """Asks it to end, then makes it; whether it went by itself."""
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
    if wait(pid, patience):
        return True
    kill(pid)
    wait(pid, TO_VANISH)
    return False


def kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
