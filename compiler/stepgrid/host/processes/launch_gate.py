"""A gate before a program: it stops there until `launch:` was looked at, so that no step is too short for the look."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ASKED = ("cpus", "numa", "malloc", "memory")  # of `launch:` what can be looked at
NAME = "stepgrid-gate"
# A shell that stops itself and then becomes the program: what it has by then (processors, policy, cgroup) is kept
ARGV = ("/bin/sh", "-c", 'kill -STOP $$; exec "$@"', NAME)
PATIENCE = 30.0  # seconds to get there: systemd-run waits for the user's systemd, and the host may be busy
PERIOD = 0.001


def needed(asked: Mapping[str, Any]) -> bool:
    return any(asked.get(name) for name in ASKED)


def before(program: Sequence[str]) -> tuple[str, ...]:
    return (*ARGV, *program)


def reached(pid: int) -> bool:
    """Whether it stands at the gate; False: it ended before, which its exit status and stderr explain."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if found is not None:
            return found.si_code == os.CLD_STOPPED
        time.sleep(PERIOD)
    return False


def open_gate(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)


def passed(pid: int) -> bool:
    """Whether the program has taken the shell's place."""
    try:
        return NAME.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return True
