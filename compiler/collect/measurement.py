"""The part of a step that was measured: what it was opened before, and what it drained afterwards, is not averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compiler.collect.trace import Array

LEAST = 1.5  # seconds
Window = tuple[float, float]  # seconds since the step's start


def within(times: Array, window: Window | None) -> slice:
    """From the sample next to its start to the one next to its end.

    All of them where that would leave no interval, or leave out so little that what the kernel counted for the whole
    process says more.
    """
    every = slice(0, len(times))
    if window is None or len(times) < 3:
        return every
    passed = (times - times[0]).tolist()
    first, last = (min(range(len(passed)), key=lambda at: abs(passed[at] - edge)) for edge in window)
    left_out = passed[first] + passed[-1] - passed[last]
    return slice(first, last + 1) if last > first and left_out >= LEAST else every
