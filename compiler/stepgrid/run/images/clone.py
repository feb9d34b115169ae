"""A copy of a database's folder: immutable files share their blocks, everything else is copied in full.

A reflinked page costs some engines at its first overwrite and not others, so only files that nobody overwrites share.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from stepgrid.host.files import Tree

FICLONE = 0x40049409
CHUNK = 1 << 26
REFLINK, HARDLINK, COPY, MIXED = "reflink", "hardlink", "copy", "mixed"


@dataclass(frozen=True, slots=True)
class CloneOutcome:
    method: str  # of the immutable files; "copy" when there are none
    bytes: int  # of everything
    copied: int  # bytes that were written


def clone(source: Path, target: Path, tree: Tree, immutable: Iterable[str]) -> CloneOutcome:
    patterns = tuple(immutable)
    target.mkdir(parents=True, exist_ok=True)
    for folder in tree.folders:
        (target / folder).mkdir(exist_ok=True)
        (target / folder).chmod((source / folder).stat().st_mode & 0o7777)
    for name, text in tree.links.items():
        (target / name).symlink_to(text)
    shared = {name: _share(source / name, target / name) for name in tree.files if _matches(name, patterns)}
    for name in tree.files.keys() - shared.keys():
        _copy(source / name, target / name)
    copied = sum(size for name, size in tree.files.items() if shared.get(name, COPY) == COPY)
    return CloneOutcome(_method(shared.values()), tree.bytes, copied)


def copied(tree: Tree, immutable: Iterable[str], shares: bool) -> int:
    """Bytes that a clone writes."""
    patterns = tuple(immutable)
    return sum(size for name, size in tree.files.items() if not (shares and _matches(name, patterns)))


def unshared(tree: Tree, source: Tree, immutable: Iterable[str]) -> int:
    """Of what a clone has become: bytes of files that are not those of its source any more, by name and size."""
    patterns = tuple(immutable)
    same = {name for name, size in tree.files.items() if source.files.get(name) == size and _matches(name, patterns)}
    return sum(size for name, size in tree.files.items() if name not in same)


def shares(source: Path, tree: Tree, immutable: Iterable[str], folder: Path) -> bool:
    """Whether immutable files can share their blocks with a folder: one of them is tried."""
    patterns = tuple(immutable)
    name = next((name for name in tree.files if _matches(name, patterns)), None)
    if name is None:
        return False
    probe = folder / ".probe"
    try:
        if not _reflink(source / name, probe):
            os.link(source / name, probe)
    except OSError:
        return False
    probe.unlink()
    return True


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(PurePath(name).match(pattern) for pattern in patterns)


def _method(used: Iterable[str]) -> str:
    methods = set(used)
    return MIXED if len(methods) > 1 else next(iter(methods), COPY)


def _share(source: Path, target: Path) -> str:
    if _reflink(source, target):
        return REFLINK
    with suppress(OSError):  # another file system, too many links, a file system without them
        os.link(source, target)
        return HARDLINK
    _copy(source, target)
    return COPY


def _reflink(source: Path, target: Path) -> bool:
    with source.open("rb") as old, target.open("xb") as new:
        try:
            fcntl.ioctl(new.fileno(), FICLONE, old.fileno())
        except OSError:
            target.unlink()
            return False
        os.fchmod(new.fileno(), os.fstat(old.fileno()).st_mode & 0o7777)
    return True


def _copy(source: Path, target: Path) -> None:
    # sendfile, not copy_file_range: that one may share blocks behind our back
    with source.open("rb") as old, target.open("xb") as new:
        while os.sendfile(new.fileno(), old.fileno(), None, CHUNK):
            pass
        os.fchmod(new.fileno(), os.fstat(old.fileno()).st_mode & 0o7777)
