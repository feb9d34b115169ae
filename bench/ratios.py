"""Ratios of two arms by pair: the median, and an interval of it that takes a pair as the unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

DRAWS, SEED, LEVEL = 10_000, 1, 95.0
FEWEST = 6  # of as many pairs the highest and the lowest hold the median 97 times in 100; of fewer nothing does


class Ratio(NamedTuple):
    median: float
    low: float | None  # of the bootstrap's 95 % interval; None where there are too few pairs for one
    high: float | None
    pairs: int

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.median:.3f} [too few pairs]"
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


def ratio(pairs: Sequence[Sequence[float]]) -> Ratio:
    """Of all ratios; each pair has one or several, which are drawn together, for they share their conditions."""
    found = np.asarray(pairs, dtype=float)
    median = float(np.median(found))
    if len(found) < FEWEST:
        return Ratio(median, None, None, len(found))
    drawn = np.random.default_rng(SEED).integers(len(found), size=(DRAWS, len(found)))
    medians = np.array([np.median(found[draw]) for draw in drawn])
    low, high = np.percentile(medians, [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
    return Ratio(median, float(low), float(high), len(found))


def signed_rank(pairs: Sequence[Sequence[float]]) -> float:
    """Wilcoxon's p that the arms are the same, of the pairs' mean log ratios."""
    from scipy.stats import wilcoxon

    return float(wilcoxon(np.log(np.asarray(pairs, dtype=float)).mean(axis=1)).pvalue)
