"""The cgroup hierarchies of this host, of either version, and where a process is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from stepgrid.host import sysfs

PROCESSES = "cgroup.procs"
V1 = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
V2 = ("memory.max", "memory.swap.max")


class Tree(NamedTuple):
    own: Path  # the process's folder in it
    limits: tuple[str, ...]  # the files of a memory limit, and of one with swap; () of one that has none
    unified: bool

    def parents(self) -> Iterator[Path]:
        """Where a folder beside or below the process's own may be made."""
        yield from (parent for parent in (self.own, self.own.parent) if may_join(parent))

    def hands_down(self, parent: Path) -> bool:
        """A folder of the unified tree has limits where its parent says so, which one with processes may not."""
        return bool(self.limits) and (not self.unified or "memory" in words(parent / "cgroup.subtree_control"))


def trees(pid: int | None = None) -> list[Tree]:
    """The unified one first, since it can kill all of a cgroup at once; those with limits before the others."""
    own = _places("self" if pid is None else str(pid))
    lines = (sysfs.text("proc/self/mountinfo") or "").splitlines()
    found = [tree for line in lines if (tree := _tree(line, own))]
    return sorted(found, key=lambda tree: (not tree.unified, not tree.limits))


def limit(pid: int) -> int | None:
    """Of the cgroup that a process is in, in bytes; None where there is none."""
    for tree in trees(pid):
        said = words(tree.own / tree.limits[0]) if tree.limits else []
        if said and said[0].isdecimal():
            return int(said[0])
    return None


def may_join(parent: Path) -> bool:
    """A process moves only where the common parent may be written, too."""
    return os.access(parent, os.W_OK | os.X_OK) and os.access(parent / PROCESSES, os.W_OK)


def words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []


def _places(pid: str) -> dict[str, str]:
    """Controllers -> path; "" are those of the unified tree."""
    rows = [line.split(":", 2) for line in (sysfs.text(f"proc/{pid}/cgroup") or "").splitlines()]
    return {row[1]: row[2] for row in rows if len(row) == 3}


def _tree(line: str, own: Mapping[str, str]) -> Tree | None:
    left, _, right = line.partition(" - ")
    (_, _, _, root, point, *_), (kind, *_, options) = left.split(), right.split()
    unified, controllers = kind == "cgroup2", set(options.split(","))
    if kind not in ("cgroup", "cgroup2") or "cpuset" in controllers:  # nobody gets into a new one of these
        return None
    mine = "" if unified else next((name for name in own if name and set(name.split(",")) <= controllers), None)
    path = None if mine is None else own.get(mine)
    if path is None:
        return None
    below = os.path.relpath(path, root) if Path(path).is_relative_to(root) else "."  # a container sees a part of it
    where = Path(os.path.normpath(sysfs.ROOT / point.lstrip("/") / below))
    return Tree(where, V2 if unified else V1 if "memory" in controllers else (), unified)
