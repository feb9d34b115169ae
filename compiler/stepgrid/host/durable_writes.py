"""Writes that survive a power cut: content first, then the name."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stepgrid.host import temporary_files


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to, which then takes the file's place: a reader sees the old or the new content, never half."""
    temporary_files.sweep(path.parent, path.name)
    new = path.with_name(f".{path.name}.{temporary_files.own()}")
    _claim(new)
    try:
        yield new
        sync(new)
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise
    sync(path.parent)


def _claim(new: Path) -> None:
    """A file of ours: a link that somebody else put there would have us write where it leads."""
    new.unlink(missing_ok=True)
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))


def write_text(path: Path, text: str) -> None:
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")


def write_cache(path: Path, text: str) -> None:
    """Whole or not there; after a power cut it may be lost or empty."""
    temporary_files.sweep(path.parent, path.name)
    new = path.with_name(f".{path.name}.{temporary_files.own()}")
    _claim(new)
    try:
        new.write_text(text, encoding="utf-8")
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Mapping[str, Any], durable: bool = True) -> None:
    """Not durable: in a folder that is synced as a whole before it is published."""
    (write_text if durable else write_cache)(path, json.dumps(value, indent=1) + "\n")


def make_folder(path: Path) -> None:
    """With the folders above it; each new name survives a power cut."""
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in new:
        sync(folder.parent)


def sync(path: Path) -> None:
    """A file's content, or a folder's names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                sync(path)
        sync(Path(parent))


def remove_tree(folder: Path, until: float | None = None) -> bool:
    """Removes a folder; stops when time.monotonic() has passed `until` and says whether it got everything."""
    for parent, folders, names in os.walk(folder, topdown=False):
        for name in names:
            Path(parent, name).unlink(missing_ok=True)
            if until is not None and time.monotonic() > until:
                return False
        for name in folders:
            _remove_folder(Path(parent, name))
    with suppress(FileNotFoundError):
        folder.rmdir()
    return not folder.exists()


def _remove_folder(path: Path) -> None:
    with suppress(FileNotFoundError):
        if path.is_symlink():
            path.unlink()
        else:
            path.rmdir()
