"""File locks between processes, users and checkouts: flock, so that the kernel frees them when a process dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Waiting = Callable[[list[int]], None]


class Busy(Exception):
    """The lock is held by others, and the caller did not want to wait."""

    def __init__(self, holders: list[int]) -> None:
        super().__init__(f"held by {holders}")
        self.holders = holders


@contextmanager
def locked(path: Path, *, shared: bool = False, wait: bool = True, waiting: Waiting | None = None) -> Iterator[None]:
    """Holds the lock while the block runs; `waiting` is told the holders before the first wait."""
    descriptor = _acquire(path, shared, wait, waiting)
    try:
        yield
    finally:
        os.close(descriptor)


def holders(path: Path) -> list[int]:
    """The processes that hold the lock, as far as the kernel tells us."""
    try:
        inode, lines = path.stat().st_ino, Path("/proc/locks").read_text().splitlines()
    except OSError:
        return []
    rows = [line.split() for line in lines if "->" not in line]
    found = {int(row[4]) for row in rows if row[1] == "FLOCK" and row[5].endswith(f":{inode}")}
    return sorted(pid for pid in found if pid > 0)  # 0: a process outside this container


def _acquire(path: Path, shared: bool, wait: bool, waiting: Waiting | None) -> int:
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        descriptor = _open(path)
        try:
            _lock(descriptor, path, kind, wait, waiting)
            if _same(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # someone removed the file meanwhile: its lock protects nothing


def _lock(descriptor: int, path: Path, kind: int, wait: bool, waiting: Waiting | None) -> None:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            raise Busy(holders(path)) from None
        if waiting:
            waiting(holders(path))
        fcntl.flock(descriptor, kind)


def _open(path: Path) -> int:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    for _ in range(100):
        # without O_CREAT first: fs.protected_regular refuses it for another user's file in a sticky folder
        with suppress(FileNotFoundError, PermissionError):
            return os.open(path, flags)
        with suppress(FileExistsError):
            return _create(path, flags)
        time.sleep(0.01)  # its creator is about to set the mode
    return os.open(path, flags)


def _create(path: Path, flags: int) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
    with suppress(OSError):
        os.fchmod(descriptor, 0o666)  # whatever the umask: other users lock the same file
    return descriptor


def _same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
