"""What holds a movable source still: a program or a tree on this machine may change without its name changing."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stepgrid.language import input_record
from stepgrid.language.builds.sources import SOURCES, kind_of
from stepgrid.language.tree_checksum import content, stamp

MISSING = "not found"
_NO_NAME = frozenset({"sha256", "submodules", "patched"})  # they say nothing of which file or commit is meant
_ARTIFACTS = frozenset({"maven", "crate", "pypi", "debian-source"})
_COMMIT = re.compile(r"[0-9a-f]{40}")


def key(source: Mapping[str, Any]) -> str:
    """What a lock file calls a source: `git https://… v1.0`. Of a source whose values are complete."""
    kind = kind_of(source)
    if kind is None:
        return " ".join(str(value) for value in source.values() if not isinstance(value, Mapping))
    names = (name for name in (kind, *SOURCES[kind].keys) if name in source and name not in _NO_NAME)
    return " ".join([kind, *(_text(source[name]) for name in names if not isinstance(source[name], Mapping))])


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def parts(source: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The source itself, and those that it takes along: each has a pin of its own."""
    yield source
    for value in source.values():
        if isinstance(value, Mapping):
            yield from parts(value)


def moves(source: Mapping[str, Any]) -> bool:
    """Whether a lock file can hold it still: a tag and a branch move, an artifact is what a registry says it is."""
    if "git" in source:
        return not _COMMIT.fullmatch(str(source.get("ref", "")))
    return kind_of(source) in _ARTIFACTS and "sha256" not in source


def pin(source: Mapping[str, Any]) -> str:
    """The content of a system's program or of a local tree; other sources are named, or the lock file has them."""
    if "system" in source:
        return _program(str(source["system"]))
    return _tree(str(source["path"])) if "path" in source else ""


def _program(name: str) -> str:
    import shutil

    path = shutil.which(name)
    found = MISSING  # its build says so; a program that is installed later is another build
    if path is not None:
        with Path(path).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    input_record.saw_program(name, found)
    return found


def _tree(path: str) -> str:
    mark, found = "", MISSING
    try:
        mark = stamp(Path(path), time.time_ns())  # before it is read: what changes meanwhile is noticed
        found = content(Path(path))
    except OSError:
        pass  # its build says so
    input_record.saw_tree(path, mark, found)
    return found


def as_it_was(path: str, mark: str, held: str) -> bool:
    """Whether a tree is what `pin` saw. Nothing is read of one that was not touched."""
    try:
        if mark and stamp(Path(path), time.time_ns()) == mark:
            return True
    except OSError:
        return held == MISSING
    return _tree(path) == held
