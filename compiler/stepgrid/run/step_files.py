"""The files of a step's folder: what its command finds there, what is kept, and what its program may not put there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from stepgrid.host.disk import PROBE
from stepgrid.host.files import open_regular

FILES = ("command.json", "stdout", "stderr", "samples.jsonl", "step.json", PROBE)
FOLDERS = ("collectors", "probes", "statistics")


def is_real(folder: Path) -> bool:
    """Check that no link leads to a folder that is there, or is about to be made."""
    return os.path.realpath(folder) == os.path.abspath(folder)  # noqa: PTH100 - resolve() follows links


class StepFolder:
    """A step's folder as it was when its program started: nothing is written or read through what that put there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = os.path.realpath(folder)
        self._identity = self._read_identity()

    def fault(self) -> str | None:
        """Name what the program put in the way of the runner, in a sentence."""
        folder, record = self._read_identity()
        if os.path.realpath(self._folder) != self._path or folder not in (None, self._identity[0]):
            return "it replaced its folder, where its output is kept: let it write into that folder"
        files = [self._folder / name for name in FILES]
        folders = [self._folder / name for name in FOLDERS]
        for path, is_type, expected in (
            *((path, stat.S_ISREG, "a file") for path in files),
            *((path, stat.S_ISDIR, "a folder") for path in folders),
        ):
            if os.path.lexists(path) and not is_type(path.lstat().st_mode):
                return f"it put something else in place of {path.name}, {expected} of stepgrid: use another name"
        if folder and record != self._identity[1]:
            return "it changed command.json, a file of stepgrid: use another name"
        return None

    def _read_identity(self) -> tuple[tuple[int, int] | None, tuple[int, int, int] | None]:
        """Identify the folder, and the record of the command in it."""
        try:
            folder = self._folder.lstat()
        except OSError:
            return None, None
        try:
            record = (self._folder / "command.json").lstat()
        except OSError:
            return (folder.st_dev, folder.st_ino), None
        return (folder.st_dev, folder.st_ino), (record.st_ino, record.st_size, record.st_mtime_ns)


def attach(folder: Path, files: Mapping[str, str], mode: int = 0o600) -> None:
    for name, text in files.items():
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def forget(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)


# Files of the live database that a step's command names, copied to the step's folder: an engine's own log.

MOST = 2 * 2**20  # bytes of a file; of a larger one the first half of that and the last


def keep(folder: Path, data: Path, names: Iterable[str]) -> None:
    """One that is not there is none to keep; a link could lead anywhere."""
    for name in names:
        source = data / name
        with suppress(OSError):  # the figures stand without it
            _copy(source, folder / Path(name).name)


def _copy(source: Path, target: Path) -> None:
    with os.fdopen(open_regular(source), "rb") as old:
        target.unlink(missing_ok=True)  # of an earlier program, maybe a link
        with target.open("xb") as new:
            _copy_ends(old, new)


def _copy_ends(old: IO[bytes], new: IO[bytes]) -> None:
    size, half = os.fstat(old.fileno()).st_size, MOST // 2
    if size <= MOST:
        new.write(old.read(MOST))
    else:
        new.write(old.read(half))
        new.write(f"\n… {size - MOST} bytes are left out here …\n".encode())
        old.seek(size - half)
        new.write(old.read(half))
