"""What is in a file, whatever its line ends and however damaged."""

from __future__ import annotations

from pathlib import Path


def text(path: Path | str) -> str:
    """As Path.read_text, in half its time: a collect reads tens of thousands of small files."""
    with open(path, "rb") as file:  # noqa: PTH123
        found = file.read().decode("utf-8", errors="replace")
    return found.replace("\r\n", "\n").replace("\r", "\n") if "\r" in found else found
