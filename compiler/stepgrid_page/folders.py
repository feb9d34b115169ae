"""A folder that a user names for us to fill: only what we wrote there, and nobody changed since, is replaced.

It has a manifest with the checksum of each file that we wrote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePath

from stepgrid.host.files import (
    make_folder,
    read_json,
    remove_tree,
    sha256,
    sweep_temporary,
    temporary_suffix,
    write_json,
)
from stepgrid.host.products import OccupiedError

MANIFEST = ".stepgrid-files.json"  # in each folder that we filled
_FILES, _STAGED = "files", "new"
_NAME = re.compile(r"[^\0\ud800-\udfff]{1,4000}")  # that a file can have
Checksums = dict[str, set[str]]  # path in the folder -> those of our versions: two while it is replaced


def check_folder(folder: Path) -> Checksums:
    """Return what we wrote into a folder; refuse one that others wrote to, or changed."""
    hint = "name a new or an empty folder, or move this one away"
    manifest = folder / MANIFEST
    if not os.path.lexists(folder):
        return {}
    if not folder.is_dir():
        raise OccupiedError(f"{folder} is no folder", hint)
    if manifest.is_symlink() or not manifest.is_file():
        if any(folder.iterdir()):
            raise OccupiedError(f"{folder} holds files that stepgrid did not write there", hint)
        return {}
    checksums = _read_manifest(manifest)
    for name, digests in checksums.items():
        path = folder / name
        if any((folder / part).is_symlink() for part in (PurePath(name), *_parents(name))):
            raise OccupiedError(f"{path} is behind a link, which stepgrid did not make", hint)
        if os.path.lexists(path) and not (path.is_file() and sha256(path) in digests):
            raise OccupiedError(f"{path} was changed since stepgrid wrote it", hint)
    return checksums


def fill_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder beside its files, then put these in the place of our earlier ones; what else is there stays."""
    before = check_folder(folder)
    make_folder(folder)
    if not before:
        write_json(folder / MANIFEST, {_FILES: []})  # from now on it is a folder of ours
    sweep_temporary(folder, _STAGED)
    staged = folder / f".{_STAGED}.{temporary_suffix()}"
    staged.mkdir()
    try:
        fill(staged)
        walk = os.walk(staged, topdown=False)  # those on top last: an index names what is there
        names = [str(Path(parent, name).relative_to(staged)) for parent, _, files in walk for name in sorted(files)]
        for name in names:
            if name not in before:
                _check_free(folder, name)
        after = {name: {sha256(staged / name)} for name in names}
        both = {name: before.get(name, set()) | after.get(name, set()) for name in {**before, **after}}
        _write_manifest(folder, both)
        for name in names:
            make_folder((folder / name).parent)
            os.replace(staged / name, folder / name)
        _remove_files(folder, before.keys() - after.keys())
        _write_manifest(folder, after)
    finally:
        remove_tree(staged)


def _check_free(folder: Path, name: str) -> None:
    path = folder / name
    parents = [folder / parent for parent in _parents(name)]
    blocked = [parent for parent in parents if parent.is_symlink() or (parent.exists() and not parent.is_dir())]
    if blocked or os.path.lexists(path):
        sentence = f"{(*blocked, path)[0]} is there already, and stepgrid did not write it"
        raise OccupiedError(sentence, "name a new or an empty folder, or move it away")


def _parents(name: str) -> list[PurePath]:
    """List the folders of a name within a folder, the innermost first."""
    return [parent for parent in PurePath(name).parents if parent.name]


def _remove_files(folder: Path, names: Iterable[str]) -> None:
    """Remove files of ours, and folders that are empty then."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
        for parent in _parents(name):
            with suppress(OSError):
                (folder / parent).rmdir()


def _read_manifest(manifest: Path) -> Checksums:
    """Read what is sound of it; names that lead out of the folder are not ours."""
    checksums: Checksums = {}
    entries = read_json(manifest).get(_FILES)
    for entry in entries if isinstance(entries, list) else ():
        match entry:
            case [str(digest), str(name)]:
                if _NAME.fullmatch(name) and not PurePath(name).is_absolute() and ".." not in PurePath(name).parts:
                    checksums.setdefault(name, set()).add(digest)
    return checksums


def _write_manifest(folder: Path, checksums: Checksums) -> None:
    entries = [[digest, name] for name in sorted(checksums) for digest in sorted(checksums[name])]
    write_json(folder / MANIFEST, {_FILES: entries})
