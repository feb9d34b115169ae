"""A file that grows: its last lines at first, and then what came since. Never more of it than that."""

from __future__ import annotations

import os
from pathlib import Path

FIRST = 1 << 14  # bytes of the end that are read at first


class Tail:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = -1  # nothing was read yet
        self._half = b""

    def lines(self) -> list[str]:
        """Whole lines only: one that is being written comes when it is whole."""
        try:
            with self.path.open("rb") as file:
                cut = self._place(file.seek(0, os.SEEK_END))
                file.seek(self._at)
                read = file.read()
        except OSError:
            return []
        self._at += len(read)
        *whole, self._half = (self._half + read).split(b"\n")
        return [line.decode("utf-8", "replace") for line in (whole[1:] if cut else whole)]

    def _place(self, end: int) -> bool:
        """At first, and after the file was written anew, its end: whether that may be in the middle of a line."""
        if 0 <= self._at <= end:
            return False
        self._half, self._at = b"", max(end - FIRST, 0)
        return self._at > 0
