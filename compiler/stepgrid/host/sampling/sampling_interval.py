"""How often something is looked at: the dearer it is, the less often."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

SHARE = 300  # times what the last look took: how long it is left alone at least
EARLY = 0.05  # seconds: what is due with the next tick may not miss it by a hair


class Seldom:
    """`clock`: by which a look is dear; what waits for a disk is so without using a processor."""

    def __init__(
        self,
        name: str,
        look: Callable[[], Any],
        least: float = 0.0,
        share: int = SHARE,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.name, self._look, self._least, self._share, self._clock = name, look, least, share, clock
        self._next = 0.0

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    def look(self) -> Any:
        """None where nothing was found."""
        began, cost = time.monotonic(), self._clock()
        found = self._look()
        self._next = began + max(self._least, self._share * (self._clock() - cost)) - EARLY
        return None if found == {} else found
