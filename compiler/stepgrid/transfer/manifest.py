"""What is in a build's folder, with a checksum of every file: what an exported build is held against."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from stepgrid.build.error import BuildError
from stepgrid.host.files import sha256
from stepgrid.model.plan import Json

Files: TypeAlias = Mapping[str, Mapping[str, Json]]  # path -> sha256, bytes, executable; or link


def files(folder: Path) -> dict[str, Mapping[str, Json]]:
    """Of every file and link, by its path; a BuildError for what cannot be moved."""
    return {str(path.relative_to(folder)): entry(folder, path) for path in paths(folder)}


def paths(folder: Path) -> list[Path]:
    return sorted(_paths(folder))


def is_movable(folder: Path, path: Path) -> bool:
    """Check that `entry` takes it."""
    if not path.is_symlink():
        return stat.S_ISREG(path.lstat().st_mode)
    try:
        return bool(_inside(folder, path))
    except BuildError:
        return False


def changed(expected: Files, found: Files) -> str | None:
    """A sentence about the first that is not what it was."""
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            return f"its file {name} is missing"
        if name not in expected:
            return f"it holds a file that no checksum is for, {name}"
        if expected[name] != found[name]:
            return f"its file {name} is not what was exported: the checksum differs"
    return None


def _paths(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        links = (name for name in folders if Path(parent, name).is_symlink())
        yield from (Path(parent, name) for name in (*names, *links))


def entry(folder: Path, path: Path) -> Mapping[str, Json]:
    """Of one file, or of a link that does not lead out of the folder."""
    if path.is_symlink():
        return {"link": _inside(folder, path)}
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise BuildError(f"{path} is neither a file nor a link: it cannot be moved")
    return {"sha256": sha256(path), "bytes": status.st_size, "executable": bool(status.st_mode & stat.S_IXUSR)}


def _inside(folder: Path, link: Path) -> str:
    target = os.readlink(link)  # noqa: PTH115 - as it is written
    root = os.path.realpath(folder)
    if target.startswith("/") or os.path.commonpath((root, os.path.realpath(link))) != root:
        raise BuildError(f"{link} is a link out of its folder, to {target}: it cannot be moved")
    return target
