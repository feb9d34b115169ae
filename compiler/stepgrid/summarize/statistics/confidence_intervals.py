"""Ratios with simultaneous intervals: the load is the unit, log ratios are paired by load, noise is pooled."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from stepgrid.summarize.statistics.scipy_functions import special
from stepgrid.summarize.statistics.variance import Noise, Spread, noise

ALPHA = 0.05  # of a table: the chance that any of its intervals misses
Values = Mapping[int, Sequence[float]]  # load -> its runs


@dataclass(frozen=True, slots=True)
class Sample:
    """The log ratios of one comparison, one per load that both arms have."""

    logs: tuple[float, ...]
    base: Hashable = None  # comparisons with one base are not independent
    loads: tuple[int, ...] = ()  # of each, its index

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
    ratio: float
    low: float
    high: float
    loads: int
    error: float | None = None  # standard error of the logarithm; None where the interval is of a series
    freedom: float | None = None


def sample(arm: Values, base: Values, key: Hashable = None) -> Sample:
    """Pairs by load; the runs of a load are averaged first, for they share its database."""
    common = sorted(load for load in arm.keys() & base.keys() if _usable(arm[load]) and _usable(base[load]))
    return Sample(tuple(_log_mean(arm[load]) - _log_mean(base[load]) for load in common), key, tuple(common))


def intervals(samples: Sequence[Sample], alpha: float = ALPHA) -> list[Interval | None]:
    """Bonferroni over the comparisons of a table that have two loads or more; None for the others."""
    family = [each for each in samples if each.freedom]
    level = alpha / 2 / max(len(family), 1)
    noises = iter(noise([Spread(each.variance, each.freedom, each.base) for each in family]))
    return [_interval(each, next(noises), level) if each.freedom else None for each in samples]


def ratio(sample: Sample) -> float | None:
    return math.exp(sample.mean) if sample.logs else None


def moved(interval: Interval, ratio: float) -> Interval:
    """The same width around another ratio."""
    scale = ratio / interval.ratio
    return Interval(ratio, interval.low * scale, interval.high * scale, interval.loads)


def inverse(interval: Interval) -> Interval:
    """Of the base to the arm."""
    return Interval(1 / interval.ratio, 1 / interval.high, 1 / interval.low, interval.loads)


def chance(interval: Interval, effect: float) -> float | None:
    """Of a ratio as far beyond the smallest effect as this, either way, where the truth is no farther than that."""
    if interval.error is None or interval.freedom is None:
        return None
    beyond = abs(math.log(interval.ratio)) - math.log1p(effect)
    return 1.0 if beyond <= 0 else min(2 * special("stdtr", interval.freedom, -beyond / interval.error), 1.0)


def _interval(sample: Sample, noise: Noise, level: float) -> Interval:
    centre, error = sample.mean, math.sqrt(noise.variance / len(sample.logs))
    half = -special("stdtrit", noise.freedom, level) * error
    low, high = (math.exp(min(max(at, -700.0), 700.0)) for at in (centre - half, centre + half))
    return Interval(math.exp(centre), low, high, len(sample.logs), error, noise.freedom)


def _usable(runs: Sequence[float]) -> bool:
    return bool(runs) and all(value > 0 and math.isfinite(value) for value in runs)


def _log_mean(runs: Sequence[float]) -> float:
    return math.fsum(map(math.log, runs)) / len(runs)
