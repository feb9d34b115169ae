"""Disk space kept in reserve below outputs/: what a run has to say last needs some when the disk is full."""

from __future__ import annotations

import os
from contextlib import suppress

from stepgrid.host.files import make_folder
from stepgrid.store.store import Store

NAME = "reserve"
MOST = 16 << 20  # bytes
SHARE = 100  # of a small disk it takes one part of so many


def keep(store: Store) -> None:
    """At the start of a run. None where there is no room for it, or no way to set space aside."""
    path = store.lock(NAME)
    with suppress(OSError):
        make_folder(path.parent)
        found = os.statvfs(path.parent)
        size = min(MOST, found.f_blocks * found.f_frsize // SHARE)
        if size and not path.exists() and found.f_bavail * found.f_frsize > size * SHARE // 10:
            _allocate(path, size)


def release(store: Store) -> bool:
    """Whether there was one."""
    try:
        store.lock(NAME).unlink()
    except OSError:
        return False
    return True


def _allocate(path: os.PathLike[str], size: int) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        os.posix_fallocate(file, 0, size)
    except OSError:
        os.unlink(path)  # noqa: PTH108
        raise
    finally:
        os.close(file)
