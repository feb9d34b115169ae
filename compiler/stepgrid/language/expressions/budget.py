"""What the expressions of a spec may cost: steps, counted in items looked at, for one expression and for all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OF_ONE = 1_000_000
OF_ALL = 100_000_000
LARGEST = 100_000  # items and characters of a value


class BudgetError(ValueError):
    """Said where the expression stands."""


class Budget:
    """Of one expression; one that needs others pays for them, too."""

    def __init__(self) -> None:
        self._left, self._deep = OF_ONE, 0
        self._of_spec = math.inf

    @contextmanager
    def of_spec(self) -> Iterator[None]:
        """All expressions of a spec together."""
        before, self._of_spec = self._of_spec, OF_ALL
        try:
            yield
        finally:
            self._of_spec = before

    def __enter__(self) -> None:
        if self._deep == 0:
            self._left = OF_ONE
        self._deep += 1

    def __exit__(self, *_: object) -> None:
        self._deep -= 1

    def pay(self, steps: int) -> None:
        self._left -= steps
        self._of_spec -= steps
        if self._left < 0:
            raise BudgetError(f"it takes more than {OF_ONE:,} steps")
        if self._of_spec < 0:
            raise BudgetError(f"the expressions of the spec take more than {OF_ALL:,} steps together")

    def measure(self, value: Any) -> None:
        """A list may hold another one many times, and be small until somebody writes it out."""
        left = LARGEST
        waiting = [value]
        while waiting:
            each = waiting.pop()
            left -= len(each) if isinstance(each, str) else 1
            if isinstance(each, list | tuple):
                waiting += each[: left + 1]
            elif isinstance(each, dict):
                waiting += [*each.keys(), *each.values()][: left + 1]
            if left - len(waiting) < 0:
                raise BudgetError(f"its value has more than {LARGEST:,} parts")


BUDGET = Budget()
