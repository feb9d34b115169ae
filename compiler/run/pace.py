"""A part of a sample that is not looked at in every one: seldom, and never for more than a share of the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

SHARE = 500  # at least so many times what the last look took lies between two


class Pace:
    """`clock` says what a look costs: CPU time of this thread, or the time that passes where it waits for a disk."""

    def __init__(
        self,
        name: str,
        read: Callable[[], Any],
        every: float = 0.0,
        share: float = SHARE,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.name = name
        self._read, self._every, self._share, self._clock = read, every, share, clock
        self._next = 0.0

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    def look(self) -> Any:
        now, began = time.monotonic(), self._clock()
        found = self._read()
        self._next = now + max(self._every, self._share * (self._clock() - began))
        return found
