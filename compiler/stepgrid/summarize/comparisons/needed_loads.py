"""How many loads would decide what is inconclusive: those that narrow its intervals to a small difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from stepgrid.model.plan import MOST_LOADS
from stepgrid.plan.estimate import DIFFERENCE
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.stopping_rule import StoppingRule, is_decided, shrunk

PATIENCE = 30  # loads that somebody may wait for


def too_wide(intervals: Iterable[Interval], effect: float) -> list[Interval]:
    """Those that more loads would help: neither kept from a verdict by the noise floor alone, nor of one load."""
    return [each for each in intervals if each.error and not is_decided(each, StoppingRule(effect))]


def wanted(some: Sequence[Interval]) -> int | None:
    """The fewest with which half of them reach no farther than DIFFERENCE, those that there are if these do; None where
    MOST_LOADS would not do.
    """
    if not some:
        return None
    known = max(each.loads for each in some)
    aim = math.log1p(DIFFERENCE)
    return next((n for n in range(known, MOST_LOADS + 1) if median(_reach(each, n) for each in some) <= aim), None)


def _reach(interval: Interval, loads: int) -> float:
    """Of the logarithm: more loads have a smaller error, and know it better."""
    assert interval.error is not None
    freedom = interval.freedom or 1.0
    now = math.log(interval.high / interval.ratio) / interval.error
    later = now * shrunk(now, freedom, freedom * (loads - 1) / (interval.loads - 1))
    return later * interval.error * math.sqrt(interval.loads / loads)
