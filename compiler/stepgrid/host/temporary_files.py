"""What killed processes were about to publish: names that begin with a dot and end in the process, of this host."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

KINDS, SUMMARY = ("plans", "marks", "builds", "results", "attempts"), "summary"  # images have locks of their own
_NAME = re.compile(r"\.(.+)\.(\d+)(~|\.json)?")


def sweep(folder: Path, name: str | None = None) -> None:
    """Removes what dead processes left in a folder; `name`: only what was to become that file."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in [entry for entry in entries if entry.name.startswith(".")]:
            found = _NAME.fullmatch(entry.name)
            if found and name in (None, found[1]) and not _is_alive(found[2]):
                _remove(entry)


def everywhere(root: Path) -> None:
    """Of a store whose run lock is held."""
    for kind in KINDS:
        sweep(root / kind)
    below(root / SUMMARY)  # plans that are not summarized again, too


def below(folder: Path) -> None:
    """And in all folders within it."""
    for parent, _, _ in os.walk(folder):
        sweep(Path(parent))


def _is_alive(process: str) -> bool:
    """One that was killed keeps its number until it is waited for: in some containers nobody ever does."""
    try:
        said = Path("/proc", process, "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return not any(line.startswith("State:\tZ") for line in said.splitlines())


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(entry.path)  # noqa: PTH108 - an entry is no Path
