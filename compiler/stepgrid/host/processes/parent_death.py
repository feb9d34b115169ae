"""Who dies with whom: a runner with its parent, its children with the runner."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
PARENT = "STEPGRID_PARENT"  # the pid that a rule's shell saw as its parent: closes the gap before we look ourselves

_prctl = ctypes.CDLL(None, use_errno=True).prctl


class OrphanedError(Exception):
    """The process that started this runner is gone."""


def follow_parent() -> None:
    """SIGTERM when the parent dies; refuses to start when it is dead already."""
    parent = int(os.environ.get(PARENT) or os.getppid())
    _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise OrphanedError(f"the process {parent} that started this job is gone")


def die_with_parent() -> Callable[[], None]:
    """For the child, between fork and exec: SIGKILL when this process dies, also if it died just now."""
    parent = os.getpid()

    def follow() -> None:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)

    return follow
