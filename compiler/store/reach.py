"""What no plan comes to any more, and its removal: never while a run is active, never anything that is not ours."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from compiler.store.durable import remove_tree, sync
from compiler.store.lock import Busy, locked
from compiler.store.measured import folder_bytes
from compiler.store.store import Store

KINDS = ("results", "attempts", "images", "builds", "records", "plans", "summary", "asked", "learnt")
FILES = ("asked", "learnt")  # a small one each


@dataclass(frozen=True, slots=True)
class Reached:
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
class Unreached:
    kind: str
    name: str
    folder: Path
    bytes: int
    root: Path  # that it must be inside of


def unreached(store: Store, reached: Reached) -> list[Unreached]:
    return [
        Unreached(kind, folder.stem, folder, _bytes(folder), root)
        for kind in KINDS
        for root, folder in _found(store, kind)
        if not reached.has(kind, folder.stem)
    ]


def remove(store: Store, found: Collection[Unreached]) -> Iterator[Unreached]:
    """Gives what is in use and was left. Busy when a run is active."""
    with locked(store.lock("run"), wait=False):
        for each in found:
            try:
                with locked(store.lock(each.name), wait=False):
                    _remove(store, each)
            except Busy:  # a job that outlived its run
                yield each


def _remove(store: Store, each: Unreached) -> None:
    """Gone under its name at once: a removal that is cut short leaves nothing that looks complete."""
    if not _inside(each.root, each.folder):
        return
    if each.kind in ("results", "builds"):
        with suppress(FileNotFoundError):
            store.mark(each.name).unlink()
    doomed = each.folder.with_name(f".{each.name}.{os.getpid()}~")
    os.rename(each.folder, doomed)
    sync(doomed.parent)
    remove_tree(doomed) if doomed.is_dir() else doomed.unlink()
    with suppress(FileNotFoundError):
        store.lock(each.name).unlink()


def _found(store: Store, kind: str) -> Iterator[tuple[Path, Path]]:
    """With the root that each is inside of."""
    for parent in store.folders(kind) if kind != "records" else [store.records()]:
        for each in sorted(parent.iterdir()) if parent.is_dir() else ():
            if not each.name.startswith(".") and _inside(parent.parent, each):
                yield parent.parent, each


def _bytes(path: Path) -> int:
    return folder_bytes(path) if path.is_dir() else path.lstat().st_blocks * 512


def _inside(root: Path, folder: Path) -> bool:
    """One of its own: no link, and not below one."""
    ours = folder.is_file() if folder.parent.name in FILES else folder.is_dir()
    return ours and not folder.is_symlink() and folder.resolve().is_relative_to(root.resolve())
