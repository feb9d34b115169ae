"""Files and folders that a user names for us to fill: only what we wrote there, and nobody changed since, is replaced.

A folder of ours has a manifest with the checksum of each file that we wrote. A single file has a note in a folder of
notes, as many forms have no room for a mark.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path, PurePath

from stepgrid.errors import USAGE, StepgridError
from stepgrid.host.files import (
    make_folder,
    read_json,
    remove_tree,
    replacing,
    sha256,
    sweep_temporary,
    temporary_suffix,
    write_json,
)

MANIFEST = ".stepgrid-files.json"  # in each folder that we filled
REPLACE = "--replace"  # of commands that write one file
_FILES, _STAGED = "files", "new"
_LETTERS = 20  # of a note's name
_NAME = re.compile(r"[^\0\ud800-\udfff]{1,4000}")  # that a file can have
_STREAM = re.compile(r"/dev/(stdout|stderr)|(/dev|/proc/self)/fd/\d+")
Checksums = dict[str, set[str]]  # path in the folder -> those of our versions: two while it is replaced


class OccupiedError(StepgridError):
    """A file or folder in the way, which is not ours."""

    status = USAGE

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


# Folders


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


# Files


def write_file(path: Path, write: Callable[[Path], object], notes: Path, is_replaced: bool = False) -> None:
    """Write a file, all or nothing. `notes`: a folder of ours; `is_replaced`: whoever wrote what is there."""
    if _is_stream(path):
        write(path)
        return
    check_file(path, notes, is_replaced)
    with replacing(path) as new:
        write(new)
    with suppress(OSError):  # results that are only read, or none: the next time it takes `--replace`
        notes.mkdir(exist_ok=True)
        write_json(_note(path, notes), {"path": str(path), "sha256": sha256(path)})


def check_file(path: Path, notes: Path, is_replaced: bool = False) -> None:
    """Refuse a link, a folder, and a file that is not ours or was changed; an empty one, such as of mktemp, is free."""
    if not os.path.lexists(path):
        return
    if path.is_symlink():
        raise OccupiedError(f"{path} is a link", "name the file that it leads to, or another one")
    if not path.is_file():
        raise OccupiedError(f"{path} is no file", "name another one")
    if is_replaced or not path.stat().st_size:
        return
    digest = read_json(_note(path, notes)).get("sha256")
    if digest != sha256(path):
        reason = "was changed since stepgrid wrote it" if digest else "is there already, and stepgrid did not write it"
        raise OccupiedError(f"{path} {reason}", f"name another file, or add `{REPLACE}`")


def _is_stream(path: Path) -> bool:
    """Recognize /dev/stdout, a device or a pipe: the user, or the shell, chose where these lead."""
    if _STREAM.fullmatch(os.path.abspath(path)):  # noqa: PTH100 - by name: a link there leads to whatever is open
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _note(path: Path, notes: Path) -> Path:
    """Locate the note of a file; it is named by the way there, so that both can move together."""
    way = os.path.relpath(path.absolute(), notes.absolute())
    return notes / f"{hashlib.sha256(os.fsencode(way)).hexdigest()[:_LETTERS]}.json"
