"""Reading /proc and /sys: what cannot be read is None, never 0."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/")


def text(path: str, limit: int = -1) -> str | None:
    try:
        with (ROOT / path).open(encoding="utf-8", errors="replace") as file:
            return file.read(limit).strip()
    except OSError:
        return None


def number(path: str) -> int | None:
    try:
        return int(text(path) or "")
    except ValueError:
        return None


def chosen(path: str) -> str | None:
    """The bracketed word of "always [madvise] never"."""
    words = (text(path) or "").split()
    return next((word[1:-1] for word in words if word.startswith("[")), words[0] if words else None)


def names(path: str) -> list[str]:
    try:
        return sorted(entry.name for entry in (ROOT / path).iterdir())
    except OSError:
        return []
