"""A disk that is full or read-only: how it is recognized, and how it is said."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from stepgrid.host.devices import existing
from stepgrid.host.log_tail import DISK_FULL, last_bytes
from stepgrid.model.number_format import size

NOTHING = 1 << 18  # bytes free that count as none
A_FEW = 8  # inodes
PROBE = ".writable"
OUTSIDE = (
    "is full:",
    "is read-only now:",
    "ran out of memory",
    *(f"was killed by {name}" for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGXFSZ")),
)
FEWER = "remove some, or use another disk"


def met_full_disk(folder: Path, data: Path, logs: Iterable[str] = ()) -> bool:
    """The engine says so, or could not even say it: its log is on a disk as well.

    `logs`: its own files in the folder. Where an assertion stops it, it has told them alone, and has room again.
    """
    said = any(DISK_FULL in last_bytes(folder / name) for name in ("stderr", "stdout", *logs))
    return said or has_no_room(folder, data)


def has_no_room(*paths: Path) -> bool:
    """One of them."""
    return any(_free(path) < NOTHING or _without_inodes(path) for path in paths)


def read_only(*folders: Path) -> str | None:
    """What a file system that was made read-only says: it is tried, since one in trouble does not say so of itself."""
    for folder in folders:
        try:
            (folder / PROBE).touch()
            (folder / PROBE).unlink()
        except OSError as error:
            if error.errno == errno.EROFS:
                return f"the disk of {folder} is read-only now: see the kernel's log (dmesg)"
    return None


def is_disk_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def disk_full(*paths: Path, hint: str = "free some, load less, or use another disk") -> str:
    """Of the one that has the least left. Ask before anything is removed: that is what the failed write saw."""
    path = next(filter(_short_of_inodes, paths), min(paths, key=_free))
    found = os.statvfs(existing(path))
    if _short_of_inodes(path):
        left = f"{found.f_favail} of its {found.f_files} inodes are free (files and folders)"
        return f"the disk of {path} is full: {left}; {FEWER}"
    free, total = found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
    return f"the disk of {path} is full: {size(free)} of {size(total)} free; {hint}"


def _without_inodes(path: Path) -> bool:
    found = os.statvfs(existing(path))
    return found.f_files > 0 and found.f_favail == 0  # no number at all: the file system makes them as they are needed


def _short_of_inodes(path: Path) -> bool:
    """The program that failed may have removed some files as it ended."""
    found = os.statvfs(existing(path))
    return (found.f_files > 0 and found.f_favail < A_FEW and _free(path) > NOTHING) or _without_inodes(path)


def _free(path: Path) -> int:
    found = os.statvfs(existing(path))
    return found.f_bavail * found.f_frsize
