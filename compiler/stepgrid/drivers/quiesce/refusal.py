"""Why the engine could not be looked at: said by the program, read by whoever started it."""

from __future__ import annotations

from pathlib import Path

BEGINNING = "the engine could not be looked at: "
LOG = "stderr"


def sentence(error: Exception) -> str:
    return f"{BEGINNING}{error}"


def complaint(folder: Path) -> str | None:
    """The last time that it was said."""
    try:
        lines = (folder / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line for line in reversed(lines) if line.startswith(BEGINNING)), None)
