"""What no plan comes to any more, and its removal: never while a run is active, never anything outside outputs/."""

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

KINDS = ("results", "attempts", "images", "builds", "plans", "summary")


@dataclass(frozen=True, slots=True)
class Reached:
    plans: Collection[str]
    builds: Collection[str]
    stages: Collection[str]

    def has(self, kind: str, name: str) -> bool:
        if kind in ("plans", "summary"):
            return name in self.plans
        return name in self.builds or name in self.stages


@dataclass(frozen=True, slots=True)
class Unreached:
    kind: str
    name: str
    folder: Path
    bytes: int


def unreached(store: Store, reached: Reached) -> list[Unreached]:
    return [
        Unreached(kind, folder.name, folder, folder_bytes(folder))
        for kind in KINDS
        for folder in _folders(store, kind)
        if not reached.has(kind, folder.name)
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
    if not _inside(store, each.folder):
        return
    if each.kind in ("results", "builds"):
        with suppress(FileNotFoundError):
            store.mark(each.name).unlink()
    doomed = each.folder.with_name(f".{each.name}.{os.getpid()}~")
    os.rename(each.folder, doomed)
    sync(doomed.parent)
    remove_tree(doomed)
    with suppress(FileNotFoundError):
        store.lock(each.name).unlink()


def _folders(store: Store, kind: str) -> list[Path]:
    parent = store.root / kind
    if not parent.is_dir():
        return []
    return [each for each in sorted(parent.iterdir()) if not each.name.startswith(".") and _inside(store, each)]


def _inside(store: Store, folder: Path) -> bool:
    """A folder of outputs/ itself: no link, and not below one."""
    root = store.root.resolve()
    return folder.is_dir() and not folder.is_symlink() and folder.resolve().is_relative_to(root)
