"""What a per-second series says by itself: an interval that respects dependence, variance, stalls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepgrid.model.plan import ALPHA
from stepgrid.summarize.statistics.confidence_intervals import Interval, exp
from stepgrid.summarize.statistics.scipy_functions import special

FEWEST_BATCHES, MOST_BATCHES = 5, 10
FEWEST_IN_BATCH = 4
FEWEST_SECONDS = 5  # below it a series says nothing about steadiness


@dataclass(frozen=True, slots=True)
class Steadiness:
    variation: float  # standard deviation / mean
    slow: float  # share of the seconds below half the median


class Relative(NamedTuple):
    """A mean, and how well it is known."""

    mean: float
    error: float  # standard error, relative to it
    freedom: int


def steadiness(values: NDArray[np.float64]) -> list[Steadiness | None]:
    """Of each row; not of one that is too short or stood still."""
    count = values.shape[1]
    if count < FEWEST_SECONDS:
        return [None] * len(values)
    values = np.sort(values, axis=1)
    means = values.mean(axis=1)
    medians = (values[:, (count - 1) // 2] + values[:, count // 2]) / 2
    slow = (values < medians[:, None] / 2).sum(axis=1) / count
    every = zip(means.tolist(), values.std(axis=1, ddof=1).tolist(), slow.tolist(), strict=True)
    return [Steadiness(deviation / mean, share) if mean > 0 else None for mean, deviation, share in every]


def batch_means(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each row: 5 to 10 consecutive batches, as neighbours depend on each other, so that few and long ones say more.

    The more there are, the shorter: sqrt(n) of them hold too little where a disturbance lasts for many seconds.
    """
    rows, length = series.shape
    count = min(max(math.isqrt(length) // 2, FEWEST_BATCHES), MOST_BATCHES)
    size = length // count
    means: NDArray[np.float64] = series[:, : count * size].reshape(rows, count, size).mean(axis=2)
    return means


def relatives(series: NDArray[np.float64]) -> list[Relative | None]:
    """Of each row; None of one that is too short to tell, or stood still."""
    if series.shape[1] < FEWEST_BATCHES * FEWEST_IN_BATCH:
        return [None] * len(series)
    batches = batch_means(series)
    count = batches.shape[1]
    found = zip(batches.mean(axis=1).tolist(), batches.std(axis=1, ddof=1).tolist(), strict=True)
    return [
        Relative(mean, deviation / math.sqrt(count) / mean, count - 1) if mean > 0 else None
        for mean, deviation in found
    ]


def relative(series: Sequence[float] | NDArray[np.float64]) -> Relative | None:
    """Of one."""
    return relatives(np.asarray(series, dtype=float)[None, :])[0]


def series_interval(arm: Relative | None, base: Relative | None, alpha: float = ALPHA) -> Interval | None:
    """Of the ratio of two means of one load each; None when either series is too short to tell."""
    if arm is None or base is None:
        return None
    error = math.hypot(arm.error, base.error)
    centre = math.log(arm.mean) - math.log(base.mean)
    half = -special("stdtrit", min(arm.freedom, base.freedom), alpha / 2) * error
    return Interval(exp(centre), exp(centre - half), exp(centre + half), 1)
