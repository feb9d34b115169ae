"""The words of a verdict, and the one that an interval gives.

comparisons/comparison_verdict.py adds the noise floor and single loads."""

from __future__ import annotations

import math

FASTER, SLOWER, SAME, INCONCLUSIVE = "faster", "slower", "same", "inconclusive"
MORE, LESS = "more", "less"  # for a metric of which neither direction is better
BETTER, WORSE = "better", "worse"  # for a metric that is neither a rate nor a time
DIFFERENT = "different"  # surely, but perhaps by less than the smallest effect
INDICATIVE = "indicative"  # a single load that differs by its time series: no verdict
ONE_LOAD = "one load"  # a single load that says nothing else

VERDICTS = (FASTER, SLOWER, BETTER, WORSE, MORE, LESS, SAME, DIFFERENT, INCONCLUSIVE)
UNDECIDED = (DIFFERENT, INCONCLUSIVE)
DIFFERENCES = (FASTER, SLOWER, BETTER, WORSE, MORE, LESS)

MEANING = {
    FASTER: "the whole interval lies above the smallest effect",
    SLOWER: "the whole interval lies below the smallest effect",
    BETTER: "as faster, for a metric that is neither a rate nor a time",
    WORSE: "as slower, for a metric that is neither a rate nor a time",
    MORE: "the whole interval lies above the smallest effect, for a metric without a better direction",
    LESS: "the whole interval lies below the smallest effect, for a metric without a better direction",
    SAME: "the whole interval lies within the smallest effect",
    DIFFERENT: "the whole interval lies on one side of 1, an end of it within the smallest effect",
    INCONCLUSIVE: "the interval is too wide for any of these, or the ratio within the noise floor",
    INDICATIVE: "one load only: its time series differ, another load may say otherwise",
    ONE_LOAD: "one load only: no verdict",
}


def verdict(low: float, high: float, effect: float, better: str | None = "higher") -> str:
    """Of a ratio's interval. The margin is symmetric in logarithms: exchanging the arms exchanges the word."""
    margin = math.log1p(effect)
    if math.log(low) > margin:
        return _words(better)[0]
    if math.log(high) < -margin:
        return _words(better)[1]
    if math.log(low) >= -margin and math.log(high) <= margin:
        return SAME
    return DIFFERENT if low > 1 or high < 1 else INCONCLUSIVE


def single(low: float, high: float, effect: float) -> str:
    """What may be said of one load: at most that its series differ."""
    margin = math.log1p(effect)
    return INDICATIVE if math.log(low) > margin or math.log(high) < -margin else ONE_LOAD


def _words(better: str | None) -> tuple[str, str]:
    return {"higher": (FASTER, SLOWER), "lower": (SLOWER, FASTER)}.get(better or "", (MORE, LESS))
