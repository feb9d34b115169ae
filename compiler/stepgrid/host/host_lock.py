"""One lock for the whole host: a measured stage has the host to itself, builds share it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stepgrid.host.locks import LockBusy, described, locked
from stepgrid.host.locks import holders as lock_holders
from stepgrid.host.noise.tuning import restore_left
from stepgrid.host.processes import cgroup

NAME = "stepgrid.host.lock"
OVERRIDE = "STEPGRID_HOST_LOCK"


@contextmanager
def host_lock(shared: bool, wait: bool = True) -> Iterator[None]:
    """Exclusive for measuring, shared for builds; says on stderr when it has to wait, and for whom."""
    with locked(path(), shared=shared, wait=wait, waiting=_say):
        restore_left(path())  # nobody measures now: what an owner has left is left for good
        yield


def clear_up() -> None:
    """At the end of a run one of whose jobs was killed: it may be long until somebody comes after it."""
    with suppress(LockBusy, OSError), host_lock(shared=True, wait=False):
        cgroup.sweep()


def holders() -> list[str]:
    """Who uses the host now, as far as the kernel tells."""
    return [described([pid]) for pid in lock_holders(path())]


def path() -> Path:
    """The same file for every user and checkout of this host."""
    override = os.environ.get(OVERRIDE)
    return Path(override) if override else _folder() / NAME


def _folder() -> Path:
    # /run/lock is for everyone on some distributions and root's on others; the choice must not depend on who asks
    common = Path("/run/lock")
    try:
        open_to_all = bool(common.stat().st_mode & stat.S_IWOTH)
    except OSError:
        open_to_all = False
    return common if open_to_all else Path("/tmp")


def _say(holders: list[int]) -> None:
    print(f"waiting for the host: {described(holders)}", file=sys.stderr, flush=True)
