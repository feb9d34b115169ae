"""Ratios with simultaneous intervals: the load is the unit, log ratios are paired by load, variances are moderated.

The intervals of a table hold together, by Dunnett's critical values: arms that are compared with one base share its
error, so their ratios correlate by a half. scipy.stats has the test of raw figures, all of one variance; here each
comparison has its own variance, and a table may have several bases.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from stepgrid.model.plan import ALPHA
from stepgrid.summarize.statistics.scipy_functions import arrays, special
from stepgrid.summarize.statistics.variance import Array, Spreads, moderated

Values = Mapping[int, Sequence[float]]  # load -> its runs

HALF = math.sqrt(0.5)
MOST_FREEDOM = 200  # degrees of freedom: more change nothing that is printed
NEAR = 0.01  # of a step
STEPS = 2  # of a degree of freedom: rounded down to halves, so that few values are worked out


@dataclass(frozen=True, slots=True)
class Sample:
    """Log ratios of one comparison, one per load that both arms have."""

    logs: tuple[float, ...]
    base: Hashable = None  # comparisons with one base are not independent
    loads: tuple[int, ...] = ()  # the index of each

    @property
    def freedom(self) -> int:
        return max(len(self.logs) - 1, 0)

    @property
    def variance(self) -> float:
        return math.fsum((log - self.mean) ** 2 for log in self.logs) / self.freedom

    @property
    def mean(self) -> float:
        return math.fsum(self.logs) / len(self.logs)


@dataclass(frozen=True, slots=True)
class Interval:
    """A ratio and its interval, with what recomputes it: low = ratio * exp(-critical * deviation / sqrt(loads))."""

    ratio: float
    low: float
    high: float
    loads: int
    ratios: tuple[float, ...] = ()  # of the loads
    deviation: float | None = None  # standard deviation of a load's logarithm; None where the interval is of a series
    freedom: float | None = None  # degrees of freedom of the deviation
    critical: float | None = None  # standard errors that it reaches

    @property
    def error(self) -> float | None:
        """Standard error of the logarithm."""
        return None if self.deviation is None else self.deviation / math.sqrt(self.loads)


def sample(arm: Values, base: Values, key: Hashable = None) -> Sample:
    """Pair by load; the runs of a load, all above 0, are averaged first, for they share its database."""
    common = sorted(load for load in arm.keys() & base.keys() if arm[load] and base[load])
    return Sample(tuple(_log_mean(arm[load]) - _log_mean(base[load]) for load in common), key, tuple(common))


def _log_mean(runs: Sequence[float]) -> float:
    return math.fsum(map(math.log, runs)) / len(runs)


def intervals(samples: Sequence[Sample], alpha: float = ALPHA) -> list[Interval | None]:
    """Return the intervals of one table, where nothing else is known."""
    return table_intervals([samples], alpha)[0]


def table_intervals(tables: Sequence[Sequence[Sample]], alpha: float = ALPHA) -> list[list[Interval | None]]:
    """Return an interval for each comparison of two loads or more; those of a table hold together.

    The tables help each other: what one shows of the noise is expected of the others.
    """
    family = [(at, sample) for at, samples in enumerate(tables) for sample in samples if sample.freedom]
    if not family:
        return [[None] * len(samples) for samples in tables]
    # A sample that names no base has its own.
    keys = [(at, index if sample.base is None else None, sample.base) for index, (at, sample) in enumerate(family)]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    table, base = np.array([at for at, _ in family]), np.array([numbers[key] for key in keys])
    variance = np.array([sample.variance for _, sample in family])
    noise = moderated(Spreads(variance, np.array([sample.freedom for _, sample in family]), table, base))
    critical = np.empty(len(family))
    for at in np.unique(table):
        part = table == at
        arms = tuple(np.unique(base[part], return_counts=True)[1].tolist())
        critical[part] = criticals(arms, noise.freedom[part], noise.common[part], alpha)
    columns = (column.tolist() for column in (noise.variance, noise.freedom, critical))
    rows = zip((sample for _, sample in family), *columns, strict=True)
    results = (_interval(*row) for row in rows)
    return [[next(results) if sample.freedom else None for sample in samples] for samples in tables]


def _interval(sample: Sample, variance: float, freedom: float, critical: float) -> Interval:
    centre, deviation, loads = sample.mean, math.sqrt(variance), len(sample.logs)
    reach = critical * deviation / math.sqrt(loads)
    ratios = tuple(map(exp, sample.logs))
    return Interval(exp(centre), exp(centre - reach), exp(centre + reach), loads, ratios, deviation, freedom, critical)


def ratio(sample: Sample) -> float | None:
    return exp(sample.mean) if sample.logs else None


def exp(log: float) -> float:
    """Exponentiate within what a float can hold."""
    return math.exp(min(max(log, -700.0), 700.0))


def moved(interval: Interval, ratio: float) -> Interval:
    """Return the same width around another ratio."""
    scale = ratio / interval.ratio
    ratios = tuple(ratio * scale for ratio in interval.ratios)
    return replace(interval, ratio=ratio, low=interval.low * scale, high=interval.high * scale, ratios=ratios)


def inverse(interval: Interval) -> Interval:
    """Return the interval of the base to the arm."""
    ratios = tuple(1 / ratio for ratio in interval.ratios)
    return replace(interval, ratio=1 / interval.ratio, low=1 / interval.high, high=1 / interval.low, ratios=ratios)


def chance(interval: Interval, effect: float) -> float | None:
    """Return the chance of a ratio as far beyond the smallest effect, where the truth is no farther than that."""
    if interval.error is None or interval.freedom is None:
        return None
    beyond = abs(math.log(interval.ratio)) - math.log1p(effect)
    return 1.0 if beyond <= 0 else min(2 * special("stdtr", interval.freedom, -beyond / interval.error), 1.0)


def criticals(arms: Sequence[int], freedom: Array, common: Array, alpha: float) -> Array:
    """Return how many standard errors the intervals of a table reach.

    `arms`: how many are compared with each base of the table; `common`: of the errors of the variances, the share that
    is the same for all of them.
    """
    rounded = np.maximum(np.floor(np.minimum(freedom, MOST_FREEDOM) * STEPS + NEAR) / STEPS, 1 / STEPS)
    steps, index = np.unique(rounded, return_inverse=True)
    sizes = tuple(sorted(arms))
    separate, joint = (
        np.array([critical(sizes, step, is_common, alpha) for step in steps.tolist()])[index]
        for is_common in (False, True)
    )
    reach: Array = separate + common * (joint - separate)
    return reach


@cache
def critical(arms: tuple[int, ...], freedom: float, common: bool, alpha: float) -> float:
    """Find it two-sided, by bisection between the value of one comparison and Bonferroni's."""
    low, high = (-special("stdtrit", freedom, alpha / 2 / count) for count in (1, sum(arms)))
    while sum(arms) > 1 and high - low > 1e-4 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if _coverage(middle, arms, freedom, common) > 1 - alpha else (middle, high)
    return high


def _coverage(reach: float, arms: tuple[int, ...], freedom: float, common: bool) -> float:
    """Integrate the chance that all intervals hold: over the errors of the variances, and of each base its own."""
    errors, weights, scale, parts = _nodes(freedom)
    ndtr = arrays("ndtr")
    one = ndtr((reach * scale - HALF * errors) / HALF) - ndtr((-reach * scale - HALF * errors) / HALF)
    one = one if common else parts @ one
    sizes, counts = np.unique(arms, return_counts=True)
    joint = np.prod([((one**size) @ weights) ** count for size, count in zip(sizes, counts, strict=True)], axis=0)
    return float(joint @ parts if common else joint)


@cache
def _nodes(freedom: float) -> tuple[Array, Array, Array, Array]:
    """Nodes of a normal error, and of an estimated standard deviation over the true one, each with weights."""
    errors, weights = np.polynomial.hermite_e.hermegauss(40)
    chances, parts = np.polynomial.legendre.leggauss(48)
    scale = np.sqrt(arrays("chdtri")(freedom, (1 - chances) / 2) / freedom)[:, None]
    return errors, weights / weights.sum(), scale, parts / 2
