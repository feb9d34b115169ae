"""Which locks are held, and by whom: one look at what the kernel lists, which takes no lock and disturbs nobody."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

LOCKS = Path("/proc/locks")


class Held:
    def __init__(self) -> None:
        self._by_inode = _holders()

    def of(self, path: Path) -> tuple[int, ...]:
        try:
            return self._by_inode.get(path.stat().st_ino, ())
        except OSError:
            return ()

    def inside(self, folder: Path) -> dict[str, tuple[int, ...]]:
        """By the names of the lock files of a folder: those that are held."""
        if not self._by_inode:
            return {}
        try:
            with os.scandir(folder) as entries:
                found = {entry.name: self._by_inode.get(entry.inode(), ()) for entry in entries}
        except OSError:
            return {}
        return {name: pids for name, pids in found.items() if pids}


def _holders() -> Mapping[int, tuple[int, ...]]:
    found: dict[int, list[int]] = defaultdict(list)
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return {}
    for line in lines:
        words = line.split()
        if "->" not in words and words[1] == "FLOCK" and int(words[4]) > 0:  # -> waits; 0: outside this container
            found[int(words[5].rpartition(":")[2])].append(int(words[4]))
    return {inode: tuple(sorted(pids)) for inode, pids in found.items()}
