"""Entries of the store that no spec needs, and the trash: they come back by rename, until the trash is emptied."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from msgspec import Struct

from stepgrid.host.files import make_folder, remove_tree, sync
from stepgrid.host.locks import LockBusy, locked
from stepgrid.store.paths import RUN_LOCK, folder_bytes, next_time_name, subfolders
from stepgrid.store.plans import outdate_summaries
from stepgrid.store.store import Store

FILE_KINDS = ("asked", "learnt", "loads", "secrets")  # a small file each
KINDS = ("results", "attempts", "images", "builds", "records", "plans", "summary", *FILE_KINDS)
IMPORTS = ("import", "import-legacy")  # the locks and attempts of imports: the next one sweeps what a killed one left
TRASH = "trash"  # a folder and a lock


class NeededNames(Struct):
    """Names of what specs need."""

    plans: set[str] = set()
    builds: set[str] = set()
    stages: set[str] = set()
    shapes: set[str] = set()  # of stages: sizes of databases are named by them
    secrets: set[str] = set()  # names of files with values of variables

    def has(self, kind: str, name: str) -> bool:
        if kind in ("plans", "summary"):
            return name in self.plans
        if kind == "secrets":
            return name in self.secrets
        if kind == "learnt":
            return name in self.shapes
        return name in self.builds or name in self.stages


class TrashEntry(Struct, frozen=True):
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

    @property
    def is_inside(self) -> bool:
        """Tell whether it is no link, and not below one: what lies elsewhere is somebody else's."""
        is_there = self.path.is_file() if self.kind in FILE_KINDS else self.path.is_dir()
        return is_there and not self.path.is_symlink() and self.path.resolve().is_relative_to(self.root.resolve())


def list_entries(store: Store) -> list[TrashEntry]:
    entries = []
    for kind in KINDS:
        parents = [store.records()] if kind == "records" else store.folders(kind)
        for parent in parents:
            root = store.root if kind == "records" else parent.parent
            for path in sorted(parent.iterdir()) if parent.is_dir() else ():
                entry = TrashEntry(kind, path, root)
                if not path.name.startswith(".") and path.name not in IMPORTS and entry.is_inside:
                    entries.append(entry)
    return entries


def unreferenced_entries(entries: Collection[TrashEntry], needed: NeededNames) -> list[TrashEntry]:
    return [entry for entry in entries if not needed.has(entry.kind, entry.name)]


class UnmovedPath(Struct, frozen=True):
    path: Path
    why: str


@contextmanager
def lock_trash(store: Store) -> Iterator[None]:
    """Hold the locks of runs, imports and the trash. LockBusy: one of them goes on in this checkout."""
    with ExitStack() as locks:
        for name in (RUN_LOCK, *IMPORTS, TRASH):
            locks.enter_context(locked(store.lock(name), wait=False))
        yield


def move(store: Store, entries: Iterable[TrashEntry]) -> list[UnmovedPath]:
    """Move entries to the trash, each by one rename: a kill in between loses nothing. Return what stays."""
    listed = list(entries)
    batch = next_time_name(folder.name for root in _roots(store) for folder in subfolders(root / TRASH))
    outdate_summaries(store, {entry.name for entry in listed if entry.kind == "results"})
    faults = [_change(store, entry.name, entry.path, partial(_move_entry, store, entry, batch)) for entry in listed]
    return [fault for fault in faults if fault]


def _move_entry(store: Store, entry: TrashEntry, batch: str) -> str:
    trash = entry.root / TRASH
    if trash.is_symlink() or not entry.is_inside:
        return f"{trash if trash.is_symlink() else entry.path} is a link"
    if entry.kind in ("results", "builds"):
        store.drop_mark(entry.name)
    _rename(entry.path, trash / batch / entry.path.relative_to(entry.root))
    return ""


def restore(store: Store) -> tuple[int, list[UnmovedPath]]:
    """Move everything back, the newest first: count what came back, and list what stays in the trash."""
    listed = list(_contents(store))
    outdate_summaries(store, {home.name for _, home in listed if home.parent.name == "results"})
    faults = [_change(store, home.stem, path, partial(_restore_path, path, home)) for path, home in listed]
    unmoved = [fault for fault in faults if fault]
    for root in _roots(store):
        _remove_empty_folders(root / TRASH)
    return len(listed) - len(unmoved), unmoved


def _restore_path(path: Path, home: Path) -> str:
    """Restore a path, never over what was made since. Attempts and results of one stage join those that were."""
    if not home.exists():
        _rename(path, home)
        return ""
    if home.parent.name in ("results", "attempts"):
        for child in path.iterdir():
            if not (home / child.name).exists():
                _rename(child, home / child.name)
        _remove_empty_folders(path)
    return f"{home} is there already" if path.exists() else ""


def trash_size(store: Store) -> tuple[int, int]:
    """Count folders and files, and the bytes of them and of what an interrupted `empty` left."""
    return len(list(_contents(store))), sum(folder_bytes(root / TRASH) for root in _roots(store))


def empty(store: Store) -> int:
    """Delete the trash and return its bytes. Hide it first: what is deleted in part cannot be restored."""
    freed = 0
    with locked(store.lock(TRASH), wait=False):
        for root in _roots(store):
            for batch in subfolders(root / TRASH):
                os.rename(batch, batch.with_name(f".{batch.name}"))
            sync(root / TRASH)
            freed += folder_bytes(root / TRASH)
            remove_tree(root / TRASH)
    return freed


def _contents(store: Store) -> Iterator[tuple[Path, Path]]:
    """List folders and files of the trash, each with its path in the store."""
    for root in _roots(store):
        for batch in reversed(subfolders(root / TRASH)):
            for kind in subfolders(batch):
                for path in sorted(kind.iterdir()):
                    paths = sorted(path.iterdir()) if path.name == store.records().name else [path]
                    yield from ((entry, root / entry.relative_to(batch)) for entry in paths)


def _roots(store: Store) -> list[Path]:
    """List folders with a trash: what is renamed stays on its file system. A link leads to somebody else's folder."""
    roots = dict.fromkeys((store.root, store.data))
    return [root for root in roots if (root / TRASH).is_dir() and not (root / TRASH).is_symlink()]


def _change(store: Store, name: str, path: Path, change: Callable[[], str]) -> UnmovedPath | None:
    """Change something under the lock of a stage or build; `change` says why it changed nothing."""
    lock = store.lock(name)
    try:
        with locked(lock, wait=False):
            why = change()
            lock.unlink(missing_ok=True)
    except LockBusy:  # a job that outlived its run
        why = "it is in use"
    except OSError as error:
        why = error.strerror or str(error)
    return UnmovedPath(path, why) if why else None


def _rename(path: Path, target: Path) -> None:
    make_folder(target.parent)
    os.rename(path, target)
    sync(target.parent)
    sync(path.parent)


def _remove_empty_folders(folder: Path) -> None:
    for parent, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(parent).rmdir()
