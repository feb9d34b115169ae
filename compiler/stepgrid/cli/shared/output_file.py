"""The file that a command writes: its name says the format, and its folder must be there."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

ENDINGS = {".md": "markdown"}


def format_of(path: Path | None, formats: Collection[str], usual: str) -> str:
    """a.csv -> csv; the usual one where the name says none."""
    ending = path.suffix.lower() if path else ""
    said = ENDINGS.get(ending, ending.removeprefix("."))
    return said if said in formats else usual


def nowhere(path: Path) -> str | None:
    """Why it cannot be written, before anything is read for it."""
    if path.parent.is_dir():
        return None
    return f"there is no folder {path.parent} to write {path.name} to"
