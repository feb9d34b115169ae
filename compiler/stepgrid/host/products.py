"""Files that a user names for us to write: only what we wrote there, and nobody changed since, is replaced.

A file has a note in a folder of notes, as many forms have no room for a mark.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from stepgrid.errors import USAGE, StepgridError
from stepgrid.host.files import (
    read_json,
    replacing,
    sha256,
    write_json,
)

REPLACE = "--replace"  # of commands that write one file
_LETTERS = 20  # of a note's name
_STREAM = re.compile(r"/dev/(stdout|stderr)|(/dev|/proc/self)/fd/\d+")


class OccupiedError(StepgridError):
    """A file or folder in the way, which is not ours."""

    status = USAGE

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


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
