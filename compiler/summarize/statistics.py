"""Ratios with simultaneous intervals: the load is the unit, log ratios are paired by load, noise is pooled."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from scipy.special import fdtr, stdtrit

ALPHA = 0.05  # of a table: the chance that any of its intervals misses
# A comparison this unlikely to be as quiet as the others keeps its own noise. Stricter in large tables, where a fixed
# share of equally noisy comparisons would be thrown back on their two or three loads; simulated in the tests.
NOISIER, NOISIER_LEAST, NOISIER_OF_ALL = 0.10, 0.01, 0.4

Values = Mapping[int, Sequence[float]]  # load -> its runs


@dataclass(frozen=True, slots=True)
class Sample:
    """The log ratios of one comparison, one per load that both arms have."""

    logs: tuple[float, ...]
    base: Hashable = None  # comparisons with one base are not independent

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


def sample(arm: Values, base: Values, key: Hashable = None) -> Sample:
    """Pairs by load; the runs of a load are averaged first, for they share its database."""
    common = sorted(load for load in arm.keys() & base.keys() if _usable(arm[load]) and _usable(base[load]))
    return Sample(tuple(_log_mean(arm[load]) - _log_mean(base[load]) for load in common), key)


def intervals(samples: Sequence[Sample], alpha: float = ALPHA) -> list[Interval | None]:
    """Bonferroni over the comparisons of a table that have two loads or more; None for the others."""
    family = [each for each in samples if each.freedom]
    level = alpha / 2 / max(len(family), 1)
    return [_interval(each, family, level) if each.freedom else None for each in samples]


def ratio(sample: Sample) -> float | None:
    return math.exp(sample.mean) if sample.logs else None


def _interval(sample: Sample, family: Sequence[Sample], level: float) -> Interval:
    variance, freedom = _noise(sample, family)
    centre = sample.mean
    half = -float(stdtrit(freedom, level)) * math.sqrt(variance / len(sample.logs))
    low, high = (math.exp(min(max(at, -700.0), 700.0)) for at in (centre - half, centre + half))
    return Interval(math.exp(centre), low, high, len(sample.logs))


def _noise(sample: Sample, family: Sequence[Sample]) -> tuple[float, float]:
    """The larger of the table's and its own; clearly noisier than the others: its own, with its own freedom."""
    own, others = sample.variance, [each for each in family if each is not sample]
    if others and own > 0 and _noisier(sample, others):
        return own, sample.freedom
    return max(own, _pooled(family)), _freedom(family)


def _noisier(sample: Sample, others: Sequence[Sample]) -> bool:
    quiet = _pooled(others)
    limit = max(NOISIER_LEAST, min(NOISIER, NOISIER_OF_ALL / (len(others) + 1)))
    return quiet == 0 or 1 - float(fdtr(sample.freedom, _freedom(others), sample.variance / quiet)) < limit


def _pooled(family: Sequence[Sample]) -> float:
    return sum(each.freedom * each.variance for each in family) / sum(each.freedom for each in family)


def _freedom(family: Sequence[Sample]) -> float:
    """Differences from one base correlate by a half, their squares by a quarter: k of them count as k/(1+(k-1)/4)."""
    alone = (each for each in family if each.base is None)
    total = float(sum(each.freedom for each in alone))
    for base, count in Counter(each.base for each in family if each.base is not None).items():
        mean = sum(each.freedom for each in family if each.base == base) / count
        total += mean * count / (1 + (count - 1) / 4)
    return total


def _usable(runs: Sequence[float]) -> bool:
    return bool(runs) and all(value > 0 and math.isfinite(value) for value in runs)


def _log_mean(runs: Sequence[float]) -> float:
    return math.fsum(map(math.log, runs)) / len(runs)
