"""What holds a movable source still: a program or a tree on this machine may change without its name changing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.host.files import sha256
from stepgrid.language import files
from stepgrid.language.files import tree_checksum, tree_mark

MISSING = "not found"


def pin(source: Mapping[str, Any]) -> str:
    """The content of a system's program or of a local tree; other sources are named, or the lock file has them."""
    if "system" in source:
        return _program(str(source["system"]))
    return _tree(str(source["path"])) if "path" in source else ""


def _program(name: str) -> str:
    import shutil

    path = shutil.which(name)
    # of one that is missing its build says so; a program that is installed later is another build
    found = MISSING if path is None else sha256(path)
    files.record_program(name, found)
    return found


def _tree(path: str) -> str:
    mark, found = "", MISSING
    try:
        mark = tree_mark(Path(path), time.time_ns())  # before it is read: what changes meanwhile is noticed
        found = tree_checksum(Path(path))
    except OSError:
        pass  # its build says so
    files.record_tree(path, mark, found)
    return found


def as_it_was(path: str, mark: str, held: str) -> bool:
    """Whether a tree is what `pin` saw. Nothing is read of one that was not touched."""
    try:
        if mark and tree_mark(Path(path), time.time_ns()) == mark:
            return True
    except OSError:
        return held == MISSING
    return _tree(path) == held
