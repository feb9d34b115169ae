"""Colours, where somebody sees them: at a terminal, unless NO_COLOR is set."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TextIO

from stepgrid.model.status import Status

_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
_STATUSES = {
    Status.DONE: "green",
    Status.RUNNING: "bold",
    Status.WAITING: "yellow",
    Status.FAILED: "red",
    Status.INTERRUPTED: "red",
    Status.BLOCKED: "yellow",
}


@dataclass(frozen=True, slots=True)
class Paint:
    coloured: bool = False

    @classmethod
    def of(cls, stream: TextIO) -> Paint:
        return cls(is_terminal(stream) and not os.environ.get("NO_COLOR"))

    def __call__(self, text: str, style: str | None) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.coloured and style and text else text

    def status(self, text: str, status: Status) -> str:
        return self(text, _STATUSES.get(status))


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"
