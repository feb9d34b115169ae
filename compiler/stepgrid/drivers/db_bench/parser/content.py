"""What is in a file, whatever its line ends and however damaged."""

from __future__ import annotations

from pathlib import Path

from stepgrid.host.file_reader import content


def text(path: Path | str) -> str:
    found = content(path).decode("utf-8", errors="replace")
    return found.replace("\r\n", "\n").replace("\r", "\n") if "\r" in found else found
