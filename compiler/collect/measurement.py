"""The part of a step that was measured: what it was opened before, and what it drained afterwards, is not averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compiler.collect.sample import Sample

LEAST = 1.5  # seconds
Window = tuple[float, float]  # seconds since the step's start


def within(samples: Sequence[Sample], window: Window | None) -> Sequence[Sample]:
    """From the sample next to its start to the one next to its end.

    All of them where that would leave no interval, or leave out so little that what the kernel counted for the whole
    process says more.
    """
    if window is None or len(samples) < 3:
        return samples
    passed = [sample.monotonic - samples[0].monotonic for sample in samples]
    first, last = (min(range(len(passed)), key=lambda at: abs(passed[at] - edge)) for edge in window)
    left_out = passed[first] + passed[-1] - passed[last]
    return samples[first : last + 1] if last > first and left_out >= LEAST else samples
