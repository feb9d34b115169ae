"""Stale file handles of a shared disk: another machine replaced what was open, or the file server restarted."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
TRIES = 3
HINT = "another machine replaced it, or its file server restarted: run the same command again"


def is_stale(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno == errno.ESTALE


def retried(look: Callable[[], T]) -> T:
    """`look` opens by path: NFS then asks the server for a new handle, so that the second look finds it."""
    for _ in range(TRIES - 1):
        try:
            return look()
        except OSError as error:
            if not is_stale(error):
                raise
    return look()
