"""The trash: what `gc` took out of the store. It comes back by rename, until the trash is emptied."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from stepgrid.host.files import make_folder, remove_tree, sync
from stepgrid.host.locks import LockBusy, locked
from stepgrid.store import paths
from stepgrid.store.paths import RUN_LOCK as RUN
from stepgrid.store.paths import folder_bytes, subfolders
from stepgrid.store.stale_summaries import out_of_date
from stepgrid.store.store import Store
from stepgrid.store.unreferenced import IMPORTS, Entry, is_own

NAME = "trash"
_RESULTS, _MARKED, _MERGED = "results", ("results", "builds"), ("results", "attempts")  # kinds
_HIDDEN = ".records"  # a folder of entries among the builds


@dataclass(frozen=True, slots=True)
class UnmovedPath:
    """What could not be moved, and why."""

    path: Path
    why: str


@contextmanager
def alone(store: Store) -> Iterator[None]:
    """While nothing runs in this checkout, nothing is imported and nobody else uses the trash: else Busy."""
    with ExitStack() as held:
        for name in (RUN, *IMPORTS, NAME):
            held.enter_context(locked(store.lock(name), wait=False))
        yield


def move(store: Store, entries: Iterable[Entry]) -> list[UnmovedPath]:
    """Each by one rename: a kill in between loses nothing. Gives what stays where it is."""
    listed = list(entries)
    batch = paths.next_time_name(each.name for root in _roots(store) for each in subfolders(root / NAME))
    out_of_date(store, {each.name for each in listed if each.kind == _RESULTS})
    return [left for each in listed if (left := _moved(store, each, batch))]


def _moved(store: Store, entry: Entry, batch: str) -> UnmovedPath | None:
    def change() -> str:
        trash = entry.root / NAME
        if trash.is_symlink() or not is_own(entry):
            return f"{trash if trash.is_symlink() else entry.path} is a link"
        if entry.kind in _MARKED:
            store.drop_mark(entry.name)
        _rename(entry.path, trash / batch / entry.path.relative_to(entry.root))
        return ""

    return _changed(store, entry.name, entry.path, change)


def restore(store: Store) -> tuple[int, list[UnmovedPath]]:
    """How many folders and files came back, and what stays in the trash. The newest comes first."""
    listed = list(_contents(store))
    out_of_date(store, {home.name for _, home in listed if home.parent.name == _RESULTS})
    left = [each for path, home in listed if (each := _restored(store, path, home))]
    for root in _roots(store):
        _remove_empty(root / NAME)
    return len(listed) - len(left), left


def _restored(store: Store, path: Path, home: Path) -> UnmovedPath | None:
    return _changed(store, home.stem, path, lambda: "" if _returned(path, home) else f"{home} is there already")


def _returned(path: Path, home: Path) -> bool:
    """Never over what was made since. Attempts and results of one stage join those that were."""
    if not home.exists():
        _rename(path, home)
        return True
    if home.parent.name not in _MERGED:
        return False
    for each in path.iterdir():
        if not (home / each.name).exists():
            _rename(each, home / each.name)
    _remove_empty(path)
    return not path.exists()


def holds(store: Store) -> tuple[int, int]:
    """How many folders and files, and the bytes of them and of what an interrupted `empty` left."""
    return len(list(_contents(store))), sum(folder_bytes(root / NAME) for root in _roots(store))


def empty(store: Store) -> int:
    """Deletes what it holds; gives the bytes. Hidden first: what is deleted in part cannot be restored."""
    freed = 0
    with locked(store.lock(NAME), wait=False):
        for root in _roots(store):
            for batch in subfolders(root / NAME):
                os.rename(batch, batch.with_name(f".{batch.name}"))
            sync(root / NAME)
            freed += folder_bytes(root / NAME)
            remove_tree(root / NAME)
    return freed


def _contents(store: Store) -> Iterator[tuple[Path, Path]]:
    """Each folder or file with its place in the store."""
    for root in _roots(store):
        for batch in reversed(subfolders(root / NAME)):
            for kind in subfolders(batch):
                for path in sorted(kind.iterdir()):
                    inner = sorted(path.iterdir()) if path.name == _HIDDEN else [path]
                    yield from ((each, root / each.relative_to(batch)) for each in inner)


def _roots(store: Store) -> list[Path]:
    """Those that have a trash: what is renamed stays on its file system. A link leads to somebody else's folder."""
    roots = dict.fromkeys((store.root, store.data))
    return [root for root in roots if (root / NAME).is_dir() and not (root / NAME).is_symlink()]


def _changed(store: Store, name: str, path: Path, change: Callable[[], str]) -> UnmovedPath | None:
    """Under the lock of a stage or build; `change` says why it changed nothing."""
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


def _remove_empty(folder: Path) -> None:
    for parent, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(parent).rmdir()
