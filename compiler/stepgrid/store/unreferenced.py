"""Unreferenced results, builds, images and plans of a store: those that no spec needs any more.

What specs need is found by cli/disk.py."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from stepgrid.store.paths import folder_bytes
from stepgrid.store.store import Store

FILES = ("asked", "learnt", "contents", "loads")  # a small one each
KINDS = ("results", "attempts", "images", "builds", "records", "plans", "summary", *FILES)
IMPORTS = ("import", "import-legacy")  # the locks and attempts of imports: the next one sweeps what a killed one left


@dataclass(frozen=True, slots=True)
class NeededNames:
    """What specs need, by the names that it has in the store."""

    plans: Collection[str]
    builds: Collection[str]
    stages: Collection[str]
    shapes: Collection[str] = ()  # of stages: what is learnt is known by them

    def has(self, kind: str, name: str) -> bool:
        if kind in ("plans", "summary"):
            return name in self.plans
        if kind == "learnt":
            return name in self.shapes
        return name in self.builds or name in self.stages


@dataclass(frozen=True, slots=True)
class Entry:
    """A folder or file of the store."""

    kind: str
    path: Path
    root: Path  # that it must be inside of: outputs/, or the data folder

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def bytes(self) -> int:
        return folder_bytes(self.path) if self.path.is_dir() else self.path.lstat().st_blocks * 512


def entries(store: Store) -> list[Entry]:
    return [Entry(kind, path, root) for kind in KINDS for root, path in _paths(store, kind)]


def unreferenced(listed: Collection[Entry], needed: NeededNames) -> list[Entry]:
    return [each for each in listed if not needed.has(each.kind, each.name)]


def is_own(entry: Entry) -> bool:
    """No link, and not below one: what lies elsewhere is somebody else's."""
    path = entry.path
    ours = path.is_file() if entry.kind in FILES else path.is_dir()
    return ours and not path.is_symlink() and path.resolve().is_relative_to(entry.root.resolve())


def _paths(store: Store, kind: str) -> Iterator[tuple[Path, Path]]:
    """Each with the root that it is inside of."""
    folders = [(folder.parent, folder) for folder in store.folders(kind)]
    for root, parent in folders if kind != "records" else [(store.root, store.records())]:
        for each in sorted(parent.iterdir()) if parent.is_dir() else ():
            if not each.name.startswith(".") and each.name not in IMPORTS and is_own(Entry(kind, each, root)):
                yield root, each
