"""Colours, where somebody sees them: at a terminal, unless NO_COLOR is set."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TextIO

from stepgrid.model import status
from stepgrid.model.status import State

_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
_STATES: dict[State, str] = {
    status.DONE: "green",
    status.RUNNING: "bold",
    status.WAITING: "yellow",
    status.FAILED: "red",
    status.KILLED: "red",
    status.BLOCKED: "yellow",
}


@dataclass(frozen=True, slots=True)
class Paint:
    coloured: bool = False

    @classmethod
    def of(cls, stream: TextIO) -> Paint:
        return cls(is_terminal(stream) and not os.environ.get("NO_COLOR"))

    def __call__(self, text: str, style: str | None) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.coloured and style and text else text

    def state(self, text: str, state: State) -> str:
        return self(text, _STATES.get(state))


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"
