"""What a database's folder holds: the list that an image is verified by."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Tree:
    folders: tuple[str, ...]  # parents before children
    files: Mapping[str, int]  # relative path -> bytes
    links: Mapping[str, str]  # relative path -> what the symlink says

    @property
    def bytes(self) -> int:
        return sum(self.files.values())

    def to_json(self) -> dict[str, Any]:
        return {"folders": list(self.folders), "files": dict(self.files), "links": dict(self.links)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Tree:
        return cls(tuple(raw["folders"]), dict(raw["files"]), dict(raw["links"]))

    def difference(self, other: Tree) -> str | None:
        """The first thing by which another tree differs from this one."""
        for name in sorted({*self.files, *other.files}):
            if self.files.get(name) != other.files.get(name):
                return f"{name}: {_bytes(self.files.get(name))} expected, {_bytes(other.files.get(name))} found"
        if (set(self.folders), dict(self.links)) != (set(other.folders), dict(other.links)):
            return "its folders or symbolic links are not those of the list"
        return None


def scan(root: Path) -> Tree:
    """Sockets, pipes and the like are left out: they belong to a process, not to a state."""
    folders: list[str] = []
    files: dict[str, int] = {}
    links: dict[str, str] = {}
    for name, entry in sorted(_walk(root, "")):
        mode = entry.st_mode
        if stat.S_ISDIR(mode):
            folders.append(name)
        elif stat.S_ISREG(mode):
            files[name] = entry.st_size
        elif stat.S_ISLNK(mode):
            links[name] = str((root / name).readlink())
    return Tree(tuple(folders), files, links)


def times(root: Path, tree: Tree) -> dict[str, int]:
    """When each file was written last, in nanoseconds."""
    return {name: (root / name).lstat().st_mtime_ns for name in tree.files}


def size(root: Path) -> int:
    """Bytes of the regular files, while they may come and go."""
    return sum(entry.st_size for _, entry in _walk(root, "") if stat.S_ISREG(entry.st_mode))


def _walk(root: Path, below: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        entries = list(os.scandir(root / below))
    except OSError:
        return
    for entry in entries:
        name = f"{below}/{entry.name}" if below else entry.name
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:  # removed meanwhile by a running database
            continue
        yield name, found
        if stat.S_ISDIR(found.st_mode):
            yield from _walk(root, name)


def _bytes(size: int | None) -> str:
    return "no such file" if size is None else f"{size} bytes"
