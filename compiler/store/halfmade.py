"""What killed processes were about to publish: names that begin with a dot and end in the process, of this host."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

KINDS = ("plans", "marks", "builds", "results", "attempts", "summary")  # images have locks of their own
_NAME = re.compile(r"\.(.+)\.(\d+)(~|\.json)?")


def sweep(folder: Path, name: str | None = None) -> None:
    """Removes what dead processes left in a folder; `name`: only what was to become that file."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [entry for entry in entries if entry.name.startswith(".")]:
            found = _NAME.fullmatch(entry.name)
            if found and name in (None, found[1]) and not Path("/proc", found[2]).exists():
                _remove(entry)


def everywhere(root: Path) -> None:
    """Of a store whose run lock is held."""
    for kind in KINDS:
        sweep(root / kind)


def below(folder: Path) -> None:
    """Of an attempt that is over."""
    for parent, _, _ in os.walk(folder):
        sweep(Path(parent))


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(entry.path)  # noqa: PTH108 - an entry is no Path
