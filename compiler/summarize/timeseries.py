"""What a per-second series says by itself: an interval that respects dependence, variance, stalls."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compiler.summarize.statistics import ALPHA, Interval
from compiler.summarize.tables import Place

FEWEST_BATCHES, MOST_BATCHES = 5, 10
FEWEST_IN_BATCH = 4
FEWEST_SECONDS = 5  # below it a series says nothing about steadiness


@dataclass(frozen=True, slots=True)
class Steadiness:
    variation: float  # standard deviation / mean
    slow: float  # share of the seconds below half the median


def steadiness(series: Mapping[Place, Sequence[tuple[float, float]]]) -> dict[Place, Steadiness]:
    """Of each run; not of one that is too short or stood still. Those of one length are worked out at once."""
    alike: dict[int, list[Place]] = defaultdict(list)
    for place, seconds in series.items():
        alike[len(seconds)].append(place)
    return {
        place: found
        for count, places in alike.items()
        if count >= FEWEST_SECONDS
        for place, found in _steadiness([[rate for _, rate in series[place]] for place in places], places)
    }


def _steadiness(series: Sequence[Sequence[float]], places: Sequence[Place]) -> Iterator[tuple[Place, Steadiness]]:
    values = np.sort(np.array(series, dtype=float), axis=1)
    count, means = values.shape[1], values.mean(axis=1)
    medians = (values[:, (count - 1) // 2] + values[:, count // 2]) / 2
    slow = (values < medians[:, None] / 2).sum(axis=1) / count
    deviations = values.std(axis=1, ddof=1)
    for place, mean, deviation, share in zip(places, means, deviations, slow, strict=True):
        if mean > 0:
            yield place, Steadiness(float(deviation) / float(mean), float(share))


def batch_means(series: Sequence[float]) -> NDArray[np.float64]:
    """Means of 5 to 10 consecutive batches: neighbours depend on each other, so that few and long ones say more.

    The more there are, the shorter: sqrt(n) of them hold too little where a disturbance lasts for many seconds.
    """
    values = np.asarray(series, dtype=float)
    count = min(max(math.isqrt(len(values)) // 2, FEWEST_BATCHES), MOST_BATCHES)
    size = len(values) // count
    means: NDArray[np.float64] = values[: count * size].reshape(count, size).mean(axis=1)
    return means


def series_interval(arm: Sequence[float], base: Sequence[float], alpha: float = ALPHA) -> Interval | None:
    """Of the ratio of two means of one load each; None when either series is too short to tell."""
    if min(len(arm), len(base)) < FEWEST_BATCHES * FEWEST_IN_BATCH:
        return None
    parts = [_relative(batch_means(series)) for series in (arm, base)]
    if parts[0] is None or parts[1] is None:
        return None
    from scipy.special import stdtrit

    (above, above_error, df), (below, below_error, _) = parts[0], parts[1]
    error = math.hypot(above_error, below_error)
    centre = math.log(above / below)
    half = -float(stdtrit(min(df, parts[1][2]), alpha / 2)) * error
    return Interval(math.exp(centre), math.exp(centre - half), math.exp(centre + half), 1)


def _relative(batches: NDArray[np.float64]) -> tuple[float, float, int] | None:
    """(mean, its relative standard error, degrees of freedom)"""
    if batches.mean() <= 0:
        return None
    mean = float(batches.mean())
    return mean, float(batches.std(ddof=1)) / math.sqrt(len(batches)) / mean, len(batches) - 1
