"""Stale file handles of a shared disk: another machine replaced what was open, or the file server restarted."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
TRIES = 3
HINT = "another machine replaced it, or its file server restarted: run the same command again"


def is_stale(error: BaseException) -> bool:
    """DuckDB's is no OSError."""
    return error.errno == errno.ESTALE if isinstance(error, OSError) else os.strerror(errno.ESTALE) in str(error)


def retried(look: Callable[[], T]) -> T:
    """`look` opens by path: NFS then asks the server for a new handle, so that the second look finds it."""
    for _ in range(TRIES - 1):
        try:
            return look()
        except Exception as error:
            if not is_stale(error):
                raise
    return look()
