"""Verdicts: the words, the one that an interval gives, and how many more loads would decide it.

The verdict of a comparison adds the noise floor and single loads (comparisons/judgement.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from stepgrid.model.plan import DIFFERENCE, MOST_LOADS
from stepgrid.summarize.statistics.confidence_intervals import Interval, special

FASTER, SLOWER, SAME, UNDECIDED = "faster", "slower", "same", "undecided"
MORE, LESS = "more", "less"  # for a metric of which neither direction is better
BETTER, WORSE = "better", "worse"  # for a metric that is neither a rate nor a time
MORE_EVEN, LESS_EVEN = "more even", "less even"  # for the variation of QPS
DIFFERENT = "different"  # surely, but perhaps by less than the smallest effect
INDICATIVE = "indicative"  # a single load that differs by its time series: no verdict
ONE_LOAD = "one load"  # a single load that says nothing else
BUSY = "undecided (host busy)"  # whatever the interval: most loads were disturbed, and not alike in arm and base

GOOD, BAD = (FASTER, BETTER, MORE_EVEN), (SLOWER, WORSE, LESS_EVEN)
OPEN = (DIFFERENT, UNDECIDED, BUSY)  # no decision
DIFFERENCES = (*GOOD, *BAD, MORE, LESS)
VERDICTS = (*DIFFERENCES, SAME, *OPEN)
ARROWS = {**dict.fromkeys(GOOD, "▲"), **dict.fromkeys(BAD, "▼"), MORE: "↑", LESS: "↓", SAME: "="}
MARKS = {**ARROWS, DIFFERENT: "≠", UNDECIDED: "?", BUSY: "?"}  # of a ratio in a short table

MEANING = {
    FASTER: "the whole interval lies above the smallest effect",
    SLOWER: "the whole interval lies below the smallest effect",
    BETTER: "as faster, for a metric that is neither a rate nor a time",
    WORSE: "as slower, for a metric that is neither a rate nor a time",
    MORE_EVEN: "as faster, for the variation of QPS from second to second",
    LESS_EVEN: "as slower, for the variation of QPS from second to second",
    MORE: "the whole interval lies above the smallest effect, for a metric without a better direction",
    LESS: "the whole interval lies below the smallest effect, for a metric without a better direction",
    SAME: "the whole interval lies within the smallest effect",
    DIFFERENT: "the whole interval lies on one side of 1, an end of it within the smallest effect",
    UNDECIDED: "the interval is too wide for any of these, or the ratio within the noise floor",
    BUSY: "others used the host in most loads; their noise differs by arm, so no interval covers it",
    INDICATIVE: "one load only: its time series differ, another load may say otherwise",
    ONE_LOAD: "one load only: no verdict",
}

METHOD = (  # docs/concepts/statistics.md begins with these sentences
    "A load is a database made anew: the runs of one load are averaged first, and arms are paired load by load.",
    "A figure is the geometric mean of its loads, and a ratio that of the loads' ratios: figures divide to it. Where a "
    "load is at 0 or below, a figure is the arithmetic mean.",
    "The interval is ratio × exp(± critical × deviation / √loads); all intervals of a step against one base hold "
    "together with 95 % confidence (Dunnett).",
    "The deviation is that of the loads' logarithms, drawn towards the other comparisons of the report (Smyth's "
    "shrinkage); a clearly noisier comparison keeps its own.",
    "The whole interval decides: faster or slower beyond the smallest effect, the same within it; a single load, most "
    "loads disturbed, or a ratio within the noise floor decide nothing.",
    "A ratio over all points or releases is made load by load: the mean of the points' logarithms is one value of a "
    "load, and the interval is that of these values.",
    "The interval of a single load comes from its seconds and knows nothing of other loads: it is indicative at most.",
    "A claim about a single load is undecided.",
)

HOPELESS = 0.05  # a comparison that is less likely to be decided by its last load is given up
RANGE = 0.1  # of reports in which fewer loads do, and in which more are needed (bench/repeats.py)
PATIENCE = 30  # loads that somebody may wait for


def verdict(low: float, high: float, effect: float) -> str:
    """Name the verdict of a ratio's interval.

    The margin is symmetric in logarithms: exchanging the arms exchanges the word.
    """
    margin, least, most = math.log1p(effect), math.log(low) if low else -math.inf, math.log(high)
    if least > margin:
        return FASTER
    if most < -margin:
        return SLOWER
    if least >= -margin and most <= margin:
        return SAME
    return DIFFERENT if low > 1 or high < 1 else UNDECIDED


class StoppingRule(NamedTuple):
    """`width`: how far an interval may reach from its ratio; without one it is to give a verdict."""

    effect: float
    width: float | None = None


def is_decided(interval: Interval, rule: StoppingRule) -> bool:
    if rule.width is not None:
        return max(interval.high / interval.ratio, interval.ratio / (interval.low or math.ulp(0))) <= 1 + rule.width
    return verdict(interval.low, interval.high, rule.effect) not in OPEN


def chance_of_decision(interval: Interval, most: int, rule: StoppingRule) -> float:
    """Foresee from its loads so far whether it is decided after `most` loads.

    The later interval is narrower, around a mean that may still move.
    """
    if not interval.error:
        return 1.0
    error = interval.error * math.sqrt(interval.loads / most)
    half = critical_later(interval, interval.freedom + most - interval.loads) * error + max(interval.bracket)
    if rule.width is not None:  # the noise may have been taken for too large
        needed = (math.log1p(rule.width) / half) ** 2
        return special("chdtrc", interval.freedom, interval.freedom / needed)
    moves = interval.error * math.sqrt(1 - interval.loads / most)
    margin = math.log1p(rule.effect)

    def chance_above(end: float) -> float:
        """Return the chance that the mean of all loads is higher."""
        beyond = math.log(interval.ratio) - end
        return special("stdtr", interval.freedom, beyond / moves) if moves else float(beyond > 0)

    inside = chance_above(half - margin) - chance_above(margin - half) if half < margin else 0.0
    return chance_above(margin + half) + 1 - chance_above(-margin - half) + inside


def critical_later(interval: Interval, freedom: float) -> float:
    """Foresee the critical value at other degrees of freedom: they do to it what they do to Student's t."""
    error = special("stdtr", interval.freedom, -interval.critical)
    return -special("stdtrit", freedom, error)


def too_wide(intervals: Iterable[Interval], effect: float) -> list[Interval]:
    """Select those that more loads would help: neither within the noise floor alone, nor of one load."""
    rule = StoppingRule(effect)
    return [interval for interval in intervals if interval.error and not is_decided(interval, rule)]


class LoadRange(NamedTuple):
    """Loads with which it comes true in about one of ten and in nine of ten reports; None: not even MOST_LOADS."""

    least: int | None
    most: int | None

    @property
    def text(self) -> str:
        least, most = (f"over {MOST_LOADS}" if end is None else str(end) for end in self)
        return least if least == most else f"{least} to {most}"


def needed_loads(intervals: Sequence[Interval]) -> LoadRange:
    """Find the fewest loads with which half of them reach no farther than DIFFERENCE, where they have lower noise
    than they seem to have, and where they have more. At least the loads of today.
    """
    return LoadRange(*(_fewest_loads(intervals, chance) for chance in (1 - RANGE, RANGE)))


def _fewest_loads(intervals: Sequence[Interval], chance: float) -> int | None:
    """`chance`: of a lower chi-square; the noise of few loads is known but roughly."""
    fewest, aim = max((interval.loads for interval in intervals), default=0), math.log1p(DIFFERENCE)
    factors = [math.sqrt(interval.freedom / special("chdtri", interval.freedom, 1 - chance)) for interval in intervals]

    def middle_reach(loads: int) -> float:
        pairs = zip(intervals, factors, strict=True)
        return median(factor * _reach(interval, loads) for interval, factor in pairs)

    candidates = range(fewest, MOST_LOADS + 1) if intervals else ()
    return next((loads for loads in candidates if middle_reach(loads) <= aim), None)


def middle_reach(intervals: Sequence[Interval]) -> float:
    """Return how far half of them reach from their ratios: 0.6 is 60 %."""
    return median(interval.high / interval.ratio - 1 for interval in intervals)


def _reach(interval: Interval, loads: int) -> float:
    """Foresee how far the logarithm reaches: more loads have a smaller error, and know it better."""
    freedom = interval.freedom * (loads - 1) / (interval.loads - 1)
    return critical_later(interval, freedom) * interval.deviation / math.sqrt(loads) + max(interval.bracket)
