"""The files that a command finds in its folder when it starts: some hold a password, so nobody else may read them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path


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
            if source.is_file() and not source.is_symlink():
                _copy(source, folder / Path(name).name)


def _copy(source: Path, target: Path) -> None:
    size = source.stat().st_size
    if size <= MOST:
        shutil.copyfile(source, target)
        return
    half = MOST // 2
    with source.open("rb") as old, target.open("wb") as new:
        new.write(old.read(half))
        new.write(f"\n… {size - MOST} bytes are left out here …\n".encode())
        old.seek(size - half)
        new.write(old.read(half))
