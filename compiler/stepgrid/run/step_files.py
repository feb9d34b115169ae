"""The files that a command finds in its folder when it starts: some hold a password, so nobody else may read them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path


def attach(folder: Path, files: Mapping[str, str], mode: int = 0o600) -> None:
    for name, text in files.items():
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def forget(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)
