"""The content of a local tree as one checksum: files, what is executable, links; without `.git`, times and owners."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

SETTLED = 100_000_000  # ns: what was touched later may have been touched again within a tick of the file system's clock


def content(root: Path) -> str:
    """The same for every copy of the tree. OSError where a part of it cannot be read."""
    found = hashlib.sha256()
    for name, status in _entries(root):
        found.update(f"{name}\0{_kind(status)}\0".encode(errors="surrogateescape"))
        found.update(_digest(root / name, status))
    return found.hexdigest()


def stamp(root: Path, now: int) -> str:
    """The same for as long as nothing was touched, without reading a file; empty where that could not be relied on."""
    found, newest = hashlib.sha256(), 0
    for name, status in _entries(root):
        touched = max(status.st_mtime_ns, status.st_ctime_ns)
        newest = max(newest, touched)
        facts = (status.st_mode, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        line = f"{name}\0{facts}\n"
        found.update(line.encode(errors="surrogateescape"))
    return found.hexdigest() if newest < now - SETTLED else ""


def links(root: Path) -> list[str]:
    """List links by their names below the root."""
    return [name for name, status in _entries(root) if stat.S_ISLNK(status.st_mode)]


def _entries(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Files and links in a fixed order, by their names below the root."""
    yield from sorted(_below(str(root), ""), key=lambda entry: os.fsencode(entry[0]))


def _below(folder: str, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    for entry in os.scandir(folder):
        if entry.name == ".git":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            yield f"{prefix}{entry.name}", entry.stat(follow_symlinks=False)


def _kind(status: os.stat_result) -> str:
    """As git has it: other bits of the mode depend on who made the copy."""
    if stat.S_ISLNK(status.st_mode):
        return "link"
    return "program" if status.st_mode & stat.S_IXUSR else "file"


def _digest(path: Path, status: os.stat_result) -> bytes:
    if stat.S_ISLNK(status.st_mode):
        return hashlib.sha256(os.fsencode(path.readlink())).digest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
