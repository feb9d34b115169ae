"""A block of lines that is drawn over itself. The terminal's mode is left alone: there is nothing to restore."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TextIO

from stepgrid.host.terminal_output import raw, visible

_STYLE = re.compile(r"\x1b\[\d+m")


class Block:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn: Sequence[str] = ()

    def size(self) -> tuple[int, int]:
        """Columns and lines, as they are now."""
        try:
            found = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return 80, 24
        return found.columns or 80, found.lines or 24

    def draw(self, lines: Sequence[str]) -> None:
        """In one write, each line over the one that stood there: nothing is blank in between."""
        body = "".join(f"{visible(line)}\x1b[K\n" for line in lines)
        self._write(f"{self._up()}{body}\x1b[J")
        self._drawn = lines

    def clear(self) -> None:
        self._write(f"{self._up()}\x1b[J")
        self._drawn = ()

    def _up(self) -> str:
        """To the first line; a terminal that became narrower has broken those that were longer."""
        columns, rows = self.size()
        taken = sum(max(1, -(-len(_STYLE.sub("", line)) // columns)) for line in self._drawn)
        up = min(taken, rows - 1)
        return f"\r\x1b[{up}A" if up else "\r"

    def _write(self, text: str) -> None:
        raw(self._stream).write(text)
        self._stream.flush()
