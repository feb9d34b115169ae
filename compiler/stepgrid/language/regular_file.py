"""The content of a file that somebody names: a regular one, and no more of it than a bound."""

from __future__ import annotations

import os
import stat

MOST_BYTES = 1 << 20
VIRTUAL = ("/proc/", "/sys/")  # what the kernel makes up while it is read: some of it has no end, or is waited for


class NotRegularError(OSError):
    """It says what it is. A pipe would be waited for, and a device has no end."""


def holds_data(path: str) -> bool:
    """Whether it is a file on a disk or in memory, wherever links lead."""
    return os.path.isfile(path) and not os.path.realpath(path).startswith(VIRTUAL)  # noqa: PTH113 - an import less


def head(path: str, most: int = MOST_BYTES) -> bytes:
    """Up to one byte more than the bound, which tells that there is more."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise NotRegularError("a folder" if stat.S_ISDIR(mode) else "a pipe or a device")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most + 1)
