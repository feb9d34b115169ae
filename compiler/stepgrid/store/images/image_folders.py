"""The images of a checkout: what they take, when they were last used, and that none goes while it is restored."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from stepgrid.host.files import read_json, write_cache
from stepgrid.host.locks import locked
from stepgrid.store.store import Store

RECORD, USED, VERIFIED = "image.json", "used", "verified.json"
DATA = "data"  # the database, in the folder of its image or beside it while it is in use
File: TypeAlias = tuple[int, int]  # device, inode


@dataclass(frozen=True, slots=True)
class Blocks:
    """One stored file."""

    bytes: int
    names: int  # that it has here
    links: int  # that it has anywhere


@dataclass(frozen=True, slots=True)
class Image:
    stage: str
    folder: Path
    title: str
    used: float  # when it was made, or restored last
    files: Mapping[File, Blocks]

    @property
    def bytes(self) -> int:
        return sum(blocks.bytes for blocks in self.files.values())

    @property
    def own(self) -> int:
        """What goes with it: files that nothing else has a link to."""
        return sum(blocks.bytes for blocks in self.files.values() if blocks.links <= blocks.names)


def images(store: Store) -> list[Image]:
    """Those where databases are now, least lately used first."""
    parent = store.image("_").parent
    folders = [each for each in _entries(parent) if each.is_dir() and not each.name.startswith(".")]
    return sorted(map(_image, map(Path, folders)), key=lambda image: (image.used, image.stage))


def held(store: Store, stage: str) -> AbstractContextManager[None]:
    """While it is restored: it is not evicted meanwhile."""
    return locked(_lock(store, stage), shared=True)


def note_use(store: Store, stage: str) -> None:
    """A store that cannot be written forgets it, which costs nothing but the order of eviction."""
    with suppress(OSError):
        (store.image(stage) / USED).touch()


def verified(folder: Path) -> dict[str, Any]:
    """What was seen of its files when they were last found to be sound after it was saved; mostly nothing."""
    return read_json(folder / VERIFIED)


def note_verified(store: Store, stage: str, seen: Mapping[str, Any]) -> None:
    """A store that cannot be written forgets it, and the files are read again."""
    with suppress(OSError):
        write_cache(store.image(stage) / VERIFIED, json.dumps(seen))


def evict(store: Store, owner: str, stage: str) -> None:
    """By the job of `owner`. Busy when it is being restored."""
    with locked(_lock(store, stage), wait=False):
        store.discard_image(owner, stage)
        _lock(store, stage).unlink(missing_ok=True)


def stored(folders: Iterable[Path]) -> int:
    """Bytes of all files below these folders; a file with several names counts once."""
    found: dict[File, Blocks] = {}
    for folder in folders:
        found |= _files(folder)
    return sum(blocks.bytes for blocks in found.values())


def record(folder: Path) -> dict[str, Any]:
    """image.json; nothing when it cannot be read."""
    try:
        raw = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return raw if isinstance(raw, dict) else {}


def _lock(store: Store, stage: str) -> Path:
    return store.lock(f"image-{stage}")


def _image(folder: Path) -> Image:
    title = str(record(folder).get("title") or folder.name)
    return Image(folder.name, folder, title, last_used(folder), _files(folder))


def last_used(folder: Path) -> float:
    times = [path.stat().st_mtime for name in (USED, RECORD) if (path := folder / name).exists()]
    return max(times, default=folder.stat().st_mtime)


def _files(folder: Path) -> dict[File, Blocks]:
    found: dict[File, Blocks] = {}
    for each in _below(folder):
        with suppress(OSError):  # removed meanwhile
            status = each.stat(follow_symlinks=False)
            key = status.st_dev, status.st_ino
            names = found[key].names + 1 if key in found else 1
            found[key] = Blocks(status.st_blocks * 512, names, status.st_nlink)
    return found


def _below(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
        else:
            yield entry


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except OSError:
        return []
