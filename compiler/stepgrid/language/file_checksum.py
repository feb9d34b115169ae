"""Checksums of files and folders that a spec names. What was not touched since it was read is not read again."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeAlias

from stepgrid.language import input_record, tree_checksum

Known: TypeAlias = Mapping[str, tuple[str, str]]  # path -> mark, checksum

_known: ContextVar[Known | None] = ContextVar("known checksums", default=None)


@contextmanager
def knowing(known: Known) -> Iterator[None]:
    """What was worked out before."""
    token = _known.set(known)
    try:
        yield
    finally:
        _known.reset(token)


def checksum(path: str) -> str:
    """OSError where a part of it cannot be read."""
    mark = _mark(path)  # before it is read: what changes meanwhile is noticed
    before = (_known.get() or {}).get(os.path.abspath(path))  # noqa: PTH100 - a link keeps its name
    found = before[1] if before and mark and before[0] == mark else _read(path)
    input_record.saw_input(path, mark, found)
    return found


def as_it_was(path: str, mark: str, was: str) -> bool:
    """Whether it holds what it held. Nothing is read of what was not touched."""
    try:
        return bool(mark and _mark(path) == mark) or _read(path) == was
    except OSError:
        return False


def _mark(path: str) -> str:
    """Empty where it was touched just now: a later change within a tick of the file system's clock would not show."""
    status, now = os.stat(path), time.time_ns()  # noqa: PTH116 - an import less
    if stat.S_ISDIR(status.st_mode):
        return tree_checksum.stamp(Path(path), now)
    touched = max(status.st_mtime_ns, status.st_ctime_ns)
    facts = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return " ".join(map(str, facts)) if touched < now - tree_checksum.SETTLED else ""


def _read(path: str) -> str:
    if os.path.isdir(path):  # noqa: PTH112 - likewise
        return tree_checksum.content(Path(path))
    with open(path, "rb") as file:  # noqa: PTH123 - likewise
        return hashlib.file_digest(file, "sha256").hexdigest()
