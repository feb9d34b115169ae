"""Intervals of the median of the loads.

From six loads on it is exact, by the order of the loads alone: the lowest and the highest of six hold the median 97
times in 100, of five only 94. Of fewer the logarithms are taken as normal, and it is Student's. Not the bootstrap: it
knows no load that was not drawn, and of four it misses 12 times in 100 instead of 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from stepgrid.summarize.statistics.scipy_functions import special

SURE = 0.95
EXACT = 6  # loads


@dataclass(frozen=True, slots=True)
class Median:
    value: float
    low: float
    high: float
    exact: bool


def interval(loads: Sequence[float]) -> Median | None:
    """None of one load, and of few loads of which one is 0."""
    if len(loads) >= EXACT:
        return _exact(sorted(loads))
    return _normal([math.log(load) for load in loads]) if len(loads) > 1 and min(loads) > 0 else None


def _exact(loads: Sequence[float]) -> Median:
    """From the k-th lowest to the k-th highest: the most k that misses at most as often as it may."""
    missed = [special("bdtr", below, len(loads), 0.5) for below in range(len(loads) // 2)]
    k = sum(chance <= (1 - SURE) / 2 for chance in missed)  # below the first, the second …
    return Median(median(loads), loads[k - 1], loads[-k], True)


def _normal(logs: Sequence[float]) -> Median:
    half = special("stdtrit", len(logs) - 1, (1 + SURE) / 2) * stdev(logs) / math.sqrt(len(logs))
    centre = fmean(logs)
    return Median(math.exp(centre), math.exp(centre - half), math.exp(centre + half), False)
