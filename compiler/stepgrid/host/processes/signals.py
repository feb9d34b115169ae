"""SIGTERM, SIGINT and SIGHUP end a stage at once, by an exception in the main thread."""

from __future__ import annotations

import signal
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interrupted(BaseException):
    """Not an Exception: nothing but the end of the stage may catch it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def install() -> None:
    for number in ENDING:
        signal.signal(number, _end)


def nothing(_number: int, _frame: FrameType | None) -> None:
    """Not SIG_IGN: Python would print of a signal that came just before that it was "ignored due to race condition"."""


def _end(number: int, _frame: FrameType | None) -> None:
    for other in ENDING:  # a second Ctrl-C must not disturb the clearing up
        signal.signal(other, nothing)
    raise Interrupted(number)
