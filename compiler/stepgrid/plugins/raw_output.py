"""What a program wrote, plain or gzipped, as bytes: of regular files alone, and no more than a bound."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from pathlib import Path

from stepgrid.model.number_format import size

LARGEST = 512 << 20  # bytes, unpacked: a gigabyte of zeros is a megabyte of gzip
GZ = ".gz"


class RawOutputError(OSError):
    """Why a file is not read, in words."""


def is_inside(folder: Path, name: str) -> bool:
    """Check that what a program wrote is read from its own folder, wherever links lead."""
    root = os.path.realpath(folder)
    return os.path.commonpath((root, os.path.realpath(f"{root}/{name}"))) == root


def read(path: Path, largest: int = LARGEST) -> bytes:
    """FileNotFoundError where there is none; RawOutputError says what else is wrong with it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would wait for its writer
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RawOutputError("it is no regular file")
        try:
            content = gzip.GzipFile(fileobj=file).read(largest + 1) if path.suffix == GZ else file.read(largest + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise RawOutputError(getattr(error, "strerror", None) or str(error)) from None
    if len(content) > largest:
        raise RawOutputError(f"it has more than {size(largest)}")
    return content
