"""One lock for the whole host: a measured stage has the host to itself, builds share it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stepgrid.host.locks import LockBusy, LockFileError, described, locked
from stepgrid.host.locks import holders as lock_holders
from stepgrid.host.processes import cgroup
from stepgrid.host.tuning import restore_abandoned
from stepgrid.model.units import duration

NAME = "stepgrid.host.lock"
OVERRIDE = "STEPGRID_HOST_LOCK"


@contextmanager
def host_lock(shared: bool, wait: bool = True) -> Iterator[None]:
    """Exclusive for measuring, shared for builds; says on stderr when it has to wait, and for whom."""
    with locked(path(), shared=shared, wait=wait, waiting=_say):
        restore_abandoned(path())  # nobody measures now: what an owner has left is left for good
        yield


def clear_up() -> None:
    """At the end of a run one of whose jobs was killed: it may be long until somebody comes after it."""
    with suppress(LockBusy, OSError), host_lock(shared=True, wait=False):
        cgroup.sweep()


def holders() -> list[str]:
    """Who uses the host now, as far as the kernel tells."""
    return [described([pid]) for pid in lock_holders(path())]


def users() -> list[str]:
    """The same for a sentence, with how long each runs."""
    return [f"{described([pid])}{_running_for([pid])}" for pid in lock_holders(path())]


def path() -> Path:
    """The same file for every user and checkout of this host, where it has a folder for that."""
    override = os.environ.get(OVERRIDE)
    return Path(override) if override else _folder() / NAME


def _folder() -> Path:
    # /run/lock is for everyone on some distributions and root's on others; the choice must not depend on who asks
    common = Path("/run/lock")
    try:
        open_to_all = bool(common.stat().st_mode & stat.S_IWOTH)
    except OSError:
        open_to_all = False
    return common if open_to_all else user_folder()


def user_folder() -> Path:
    """Not /tmp itself, where anybody may hold the lock, or put something else in its place."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    cache = Path(os.path.expanduser("~"), ".cache", "stepgrid")  # noqa: PTH111 - a user may have no home
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    for folder in (Path(given), cache) if given else (cache,):
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    return _own_folder(Path(f"/tmp/stepgrid-{os.getuid()}"))


def _own_folder(folder: Path) -> Path:
    """Of an account whose home cannot be written."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
        raise LockFileError(folder, "no folder of yours")
    return folder


def _say(holders: list[int]) -> None:
    print(f"waiting for the host: {described(holders)}{_running_for(holders)}", file=sys.stderr, flush=True)


def _running_for(holders: list[int]) -> str:
    """When a process took the lock the kernel does not tell."""
    ages = [age for pid in holders if (age := _age(pid)) is not None]
    return f", running for {duration(max(ages))}" if ages else ""


def _age(pid: int) -> float | None:
    """Seconds since a process began, as proc(5) has them."""
    try:
        began = int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19])
        return float(Path("/proc/uptime").read_text().split()[0]) - began / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
