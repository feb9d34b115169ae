"""Folders below a folder, by name; their publication by rename; what a checkout is called in a shared place."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from stepgrid.host.files import make_folder, retry_stale, sync, sync_tree


def own_name(root: Path) -> str:
    """Of a checkout: its folder's name, for people, and a digest of its path."""
    whole = root.resolve()
    return f"{whole.parent.name}-{hashlib.sha256(os.fsencode(whole)).hexdigest()[:8]}"


def publish(attempt: Path, target: Path) -> None:
    make_folder(target.parent)
    sync_tree(attempt)
    os.rename(attempt, target)
    sync(target.parent)


def below(folder: Path, hidden: bool = False) -> list[Path]:
    return retry_stale(lambda: _below(folder, hidden))


def _below(folder: Path, hidden: bool) -> list[Path]:
    try:
        with os.scandir(folder) as entries:  # says what is a folder without a look at each
            names = sorted(each.name for each in entries if each.name.startswith(".") == hidden and each.is_dir())
    except FileNotFoundError:
        return []
    return [folder / name for name in names]
