"""The part of a step's samples that was measured, cut at its ends: between two samples counters grow evenly.

What a step was opened before, what it drained afterwards, and what was sampled when it had ended already is not in it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from stepgrid.collect.samples.sample_arrays import Array

Window = tuple[float, float]  # seconds since the step's start
SLIGHT = 0.02  # seconds, two ticks of the kernel's clock: what is left out is too little to be seen in a process
LATEST = 5.0  # seconds from a step's start to its first sample, at most; else a clock was set


class Measurement(NamedTuple):
    samples: Array
    partial: bool  # a part of the step, and not all of it
    weight: float = 1.0  # its seconds, by those that the samples have


def measurement(samples: Array, window: Window | None, record: Mapping[str, Any]) -> Measurement:
    """All samples where nothing says how long the step took, or where the window has no time."""
    seconds = record.get("seconds")
    ends = window if window is not None else (0.0, float(seconds)) if isinstance(seconds, int | float) else None
    if ends is None or len(samples) < 2:
        return Measurement(samples, False)
    moments, late = _moments(samples), _late(samples, record)
    begin, end = (min(max(moments[0] + edge - late, moments[0]), moments[-1]) for edge in ends)
    if not end > begin:
        return Measurement(samples, False)
    partial = window is not None and moments[-1] - moments[0] - (end - begin) > SLIGHT
    return Measurement(_between(samples, moments, begin, end), partial, (ends[1] - ends[0]) / (end - begin))


def _between(samples: Array, moments: list[float], begin: float, end: float) -> Array:
    """Counters at the edges as if they grew evenly from one sample to the next."""
    first, last = bisect_right(moments, begin) - 1, bisect_left(moments, end)
    found = samples[first : last + 1].copy()
    if begin > moments[first]:
        found[0] = _edge(samples, moments, first, begin)
    if end < moments[last]:
        found[-1] = _edge(samples, moments, last - 1, end)
    return found


def _edge(samples: Array, moments: list[float], before: int, moment: float) -> Array:
    share = (moment - moments[before]) / (moments[before + 1] - moments[before])
    found: Array = samples[before] + share * (samples[before + 1] - samples[before])
    return found


def _late(samples: Array, record: Mapping[str, Any]) -> float:
    """Seconds from the step's start to its first sample."""
    from stepgrid.collect.samples.sample_format import PLACES

    try:
        found = float(samples[0, PLACES["t",]]) - datetime.fromisoformat(record["started"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return 0.0
    return found if 0 < found < LATEST else 0.0


def _moments(samples: Array) -> list[float]:
    from stepgrid.collect.samples.sample_format import PLACES

    found: list[float] = samples[:, PLACES["monotonic",]].tolist()
    return found
