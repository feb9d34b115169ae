"""How noisy each comparison of a table is: two or three loads alone say little, so the comparisons help each other.

The noise of a comparison is never taken for less than its own loads show. In a small table it is otherwise the pooled
one, unless the comparison is clearly noisier than the others. In a large one the spread of the variances themselves
says how much they may be pooled (empirical Bayes; Smyth 2004, doi 10.2202/1544-6115.1027). Simulated in the tests.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from scipy.special import digamma, fdtr, polygamma

LARGE = 12  # comparisons from which the spread of the variances can be told
NOISIER = 0.10  # a comparison this unlikely to be as quiet as the others is on its own


@dataclass(frozen=True, slots=True)
class Spread:
    """What the loads of one comparison show."""

    variance: float
    freedom: int
    base: Hashable = None  # comparisons with one base are not independent; None: alone


@dataclass(frozen=True, slots=True)
class Noise:
    variance: float
    freedom: float


def noise(family: Sequence[Spread]) -> list[Noise]:
    if len(family) < LARGE or not all(each.variance for each in family):
        return [_small(each, [other for other in family if other is not each]) for each in family]
    return _large(family)


def _small(own: Spread, others: Sequence[Spread]) -> Noise:
    if not others or (own.variance > 0 and _noisier(own, others)):
        return Noise(own.variance, own.freedom)
    return Noise(max(own.variance, _pooled([own, *others])), _freedom([own, *others]))


def _noisier(own: Spread, others: Sequence[Spread]) -> bool:
    quiet = _pooled(others)
    return quiet == 0 or 1 - float(fdtr(own.freedom, _freedom(others), own.variance / quiet)) < NOISIER


def _large(family: Sequence[Spread]) -> list[Noise]:
    prior, limit = _prior(family), _freedom(family)
    return [_shrunk(each, prior, limit) for each in family]


def _shrunk(own: Spread, prior: Noise, limit: float) -> Noise:
    if math.isinf(prior.freedom):
        return Noise(max(own.variance, prior.variance), limit)
    freedom = prior.freedom + own.freedom
    shrunk = (prior.freedom * prior.variance + own.freedom * own.variance) / freedom
    return Noise(max(own.variance, shrunk), min(freedom, limit))


def _prior(family: Sequence[Spread]) -> Noise:
    """Where the variances come from, by the moments of their logarithms; all from one: infinitely many degrees."""
    halves = [each.freedom / 2 for each in family]
    logs = [
        math.log(each.variance) - float(digamma(half)) + math.log(half)
        for each, half in zip(family, halves, strict=True)
    ]
    excess = variance(logs) - fmean(float(polygamma(1, half)) for half in halves)
    if excess <= 0:
        return Noise(_pooled(family), math.inf)
    half = _inverse_trigamma(excess)
    return Noise(math.exp(fmean(logs) + float(digamma(half)) - math.log(half)), 2 * half)


def _inverse_trigamma(value: float) -> float:
    """Newton's method from a start that converges from one side."""
    at = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(polygamma(1, at))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, at))
        at += step
        if abs(step) < 1e-9 * at:
            break
    return at


def _pooled(family: Sequence[Spread]) -> float:
    return sum(each.freedom * each.variance for each in family) / sum(each.freedom for each in family)


def _freedom(family: Sequence[Spread]) -> float:
    """Differences from one base correlate by a half, their squares by a quarter: k of them count as k/(1+(k-1)/4)."""
    total = float(sum(each.freedom for each in family if each.base is None))
    for base, count in Counter(each.base for each in family if each.base is not None).items():
        total += sum(each.freedom for each in family if each.base == base) / (1 + (count - 1) / 4)
    return total
