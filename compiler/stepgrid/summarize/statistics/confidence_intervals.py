"""Ratios with simultaneous intervals: the load is the unit, log ratios are paired by load, variances are moderated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from stepgrid.model.plan import ALPHA
from stepgrid.summarize.statistics.dunnett import criticals
from stepgrid.summarize.statistics.scipy_functions import special
from stepgrid.summarize.statistics.variance import Array, Moderated, Spreads, moderated

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
    """Pairs by load; the runs of a load, all above 0, are averaged first, for they share its database."""
    common = sorted(load for load in arm.keys() & base.keys() if arm[load] and base[load])
    return Sample(tuple(_log_mean(arm[load]) - _log_mean(base[load]) for load in common), key, tuple(common))


def intervals(samples: Sequence[Sample], alpha: float = ALPHA) -> list[Interval | None]:
    """Of one table that nothing else is known of."""
    return of_tables([samples], alpha)[0]


def of_tables(tables: Sequence[Sequence[Sample]], alpha: float = ALPHA) -> list[list[Interval | None]]:
    """Over the comparisons of a table that have two loads or more; None for the others. Tables help each other."""
    repeated = [[sample for sample in samples if sample.freedom] for samples in tables]
    repeated = [samples for samples in repeated if samples]
    noise = _noise(repeated)
    reach = np.concatenate([np.empty(0), *_reaches(repeated, noise, alpha)])
    family = [sample for samples in repeated for sample in samples]
    rows = zip(family, noise.variance.tolist(), noise.freedom.tolist(), reach.tolist(), strict=True)
    found = (_interval(*row) for row in rows)
    return [[next(found) if sample.freedom else None for sample in samples] for samples in tables]


def _noise(tables: Sequence[Sequence[Sample]]) -> Moderated:
    if not tables:
        return Moderated(*np.empty((3, 0)))
    family = [(at, sample) for at, samples in enumerate(tables) for sample in samples]
    bases: dict[Hashable, int] = {}
    numbers = [bases.setdefault(key, len(bases)) for key in _bases(family)]
    variances, freedoms = (
        [read(each) for _, each in family] for read in (attrgetter("variance"), attrgetter("freedom"))
    )
    spreads = Spreads(np.array(variances), np.array(freedoms), np.array([at for at, _ in family]), np.array(numbers))
    return moderated(spreads)


def _bases(family: Sequence[tuple[int, Sample]]) -> Iterator[Hashable]:
    """A sample that names none has its own."""
    for index, (at, sample) in enumerate(family):
        yield at, index if sample.base is None else None, sample.base


def _reaches(tables: Sequence[Sequence[Sample]], noise: Moderated, alpha: float) -> Iterator[Array]:
    """In standard errors."""
    first = 0
    for samples in tables:
        part = slice(first, first + len(samples))
        arms = Counter(base for base in _bases([(0, each) for each in samples])).values()
        yield criticals(tuple(arms), noise.freedom[part], noise.common[part], alpha)
        first += len(samples)


def ratio(sample: Sample) -> float | None:
    return exp(sample.mean) if sample.logs else None


def exp(log: float) -> float:
    """Within what a float can hold."""
    return math.exp(min(max(log, -700.0), 700.0))


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


def _interval(sample: Sample, variance: float, freedom: float, reach: float) -> Interval:
    centre, error = sample.mean, math.sqrt(variance / len(sample.logs))
    low, high = exp(centre - reach * error), exp(centre + reach * error)
    return Interval(exp(centre), low, high, len(sample.logs), error, freedom)


def _log_mean(runs: Sequence[float]) -> float:
    return math.fsum(map(math.log, runs)) / len(runs)
