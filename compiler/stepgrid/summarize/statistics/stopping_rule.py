"""Whether a comparison has loads enough, and whether more of them would decide it."""

from __future__ import annotations

import math
from typing import NamedTuple

from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.scipy_functions import special
from stepgrid.summarize.statistics.verdicts import UNDECIDED, verdict

HOPELESS = 0.05  # a comparison that is less likely to be decided by its last load is given up


class StoppingRule(NamedTuple):
    """`width`: how far an interval may reach from its ratio; without one it is to give a verdict."""

    effect: float
    width: float | None = None


def is_decided(interval: Interval, rule: StoppingRule) -> bool:
    if rule.width is not None:
        return interval.high <= interval.ratio * (1 + rule.width)  # the upper side is the longer one
    return verdict(interval.low, interval.high, rule.effect) not in UNDECIDED


def chance(interval: Interval, most: int, rule: StoppingRule) -> float:
    """That it is decided after `most` loads, as its loads so far foretell."""
    if interval.error is None or interval.freedom is None:
        return 1.0
    later = _Later(interval, most)
    return later.chance_of_width(rule.width) if rule.width is not None else later.chance_of_verdict(rule.effect)


class _Later:
    """The interval that more loads would give: narrower, around a mean that may still move."""

    def __init__(self, interval: Interval, most: int) -> None:
        assert interval.error is not None
        assert interval.freedom is not None
        self.mean, self.freedom = math.log(interval.ratio), interval.freedom
        self.error = interval.error * math.sqrt(interval.loads / most)
        self.moves = interval.error * math.sqrt(1 - interval.loads / most)
        now = (math.log(interval.high) - self.mean) / interval.error
        self.reach = now * shrunk(now, self.freedom, self.freedom + most - interval.loads)

    def chance_of_verdict(self, effect: float) -> float:
        margin, half = math.log1p(effect), self.reach * self.error
        outside = self._above(margin + half) + 1 - self._above(-margin - half)
        inside = self._above(half - margin) - self._above(margin - half) if half < margin else 0.0
        return outside + inside

    def chance_of_width(self, width: float) -> float:
        """By how much the noise may have been taken for too large: chi-square."""
        needed = (math.log1p(width) / (self.reach * self.error)) ** 2
        return special("chdtrc", self.freedom, self.freedom / needed)

    def _above(self, at: float) -> float:
        """That the mean of all loads comes out higher."""
        if self.moves == 0:
            return float(self.mean > at)
        return special("stdtr", self.freedom, (self.mean - at) / self.moves)


def shrunk(reach: float, freedom: float, later: float) -> float:
    """What more degrees of freedom make of a critical value: as they do to Student's t of the same error."""
    error = special("stdtr", freedom, -reach)
    return -special("stdtrit", later, error) / reach
