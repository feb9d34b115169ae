"""Folders below a folder, by name; their publication by rename; what a checkout is called in a shared place."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from stepgrid.host.durable_writes import make_folder, sync, sync_tree


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
    try:
        return sorted(e for e in folder.iterdir() if e.is_dir() and e.name.startswith(".") == hidden)
    except FileNotFoundError:
        return []
