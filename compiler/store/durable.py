"""Writes that survive a power cut: content first, then the name."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replaces the file as a whole: a reader sees the old or the new content, never half."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new.open("w", encoding="utf-8") as file:
            file.write(json.dumps(value, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise
    sync(path.parent)


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
