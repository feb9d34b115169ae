"""How noisy each comparison of a report is: its own loads say little, so its table and the other tables help
(empirical Bayes, as limma does it: Smyth 2004).

A variance is drawn towards what is expected of it, the more so the more alike the others are. How alike they are is
itself estimated, and taken for less than it looks, by what so few variances could hide. A comparison that is clearly
noisier than expected keeps its own variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepgrid.summarize.statistics.scipy_functions import arrays

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

FLOOR = 0.0025**2  # figures are rounded: loads that agree to the digit do not show that there is no noise
OUTLIER = 0.002  # a variance this unlikely high says nothing of the others
CHANCE = 0.004  # of one, where all are alike: the middle that it is judged by varies, too
TYPICAL_OF_TABLE = 4  # comparisons that have a middle of their own; of fewer, that of the report is taken
TYPICAL_OF_REPORT = 4  # tables, likewise
HIDDEN = 0.45  # standard errors by which so few tables may be less alike than they look
DEPENDENCE = 0.2  # correlation of the logarithms of two variances that share a base
NOISIER = (0.05, 0.8)  # a comparison this unlikely to be as quiet as expected has only its own noise: least and most
UNSURE, LITTLE, OFTEN = 0.8, 4.5, 20.0  # of one degree of freedom; degrees of freedom of the others; for each outlier
MANY = 1e5  # degrees of freedom that stand for a variance that is known


class Spreads(NamedTuple):
    """What the loads of each comparison show; `table` and `base` count from 0."""

    variance: Array
    freedom: Array
    table: Numbers
    base: Numbers


class Noise(NamedTuple):
    variance: Array
    freedom: Array


class Moderated(NamedTuple):
    """`common`: the share of the error of a variance that the others of its table have, too."""

    variance: Array
    freedom: Array
    common: Array


class _Prior(NamedTuple):
    variance: float
    freedom: float


def moderated(spreads: Spreads) -> Moderated:
    own = spreads._replace(variance=np.maximum(spreads.variance, FLOOR))
    kept = _kept(own)
    pooled = _pooled(own, kept)
    expected = _sum(_others(own, kept), _prior(pooled))
    return _drawn(own, expected, _alike(own, kept)[own.table], _unusual(kept))


def _drawn(own: Spreads, expected: Noise, alike: Array, outliers: float) -> Moderated:
    """Towards what is expected; with nothing expected, and where that is clearly exceeded, it stays."""
    counted = 1 / (1 / alike + 1 / np.maximum(expected.freedom, 1e-9))
    ratio = own.variance / expected.variance
    alone = arrays("fdtrc")(own.freedom, counted, ratio) < _noisier(own.freedom, expected.freedom, outliers)
    counted = np.where(alone, 0, counted)
    freedom = counted + own.freedom
    variance = (counted * expected.variance + own.freedom * own.variance) / freedom
    return Moderated(variance, freedom, counted**2 / np.maximum(expected.freedom * freedom, 1e-9))


def _noisier(freedom: Array, expected: Array, outliers: float) -> Array:
    """The chance below which a comparison has only its own noise. A noisy one of two or three loads often looks quiet
    by chance: it is believed less, the more so where little is known of the others, or some of them are outliers."""
    chance = UNSURE / freedom**4 * (1 + (LITTLE / np.maximum(expected, 1e-3)) ** 3) + min(OFTEN * outliers, 0.6)
    return np.where(expected > 0, np.clip(chance, *NOISIER), 1.0)


def _kept(own: Spreads) -> NDArray[np.bool_]:
    """Without the clear outliers; a table of nothing else has them all."""
    scaled = own.variance * own.freedom / arrays("chdtri")(own.freedom, 0.5)
    typical = _medians(scaled, own.table)
    few = np.bincount(own.table) < TYPICAL_OF_TABLE
    typical[few] = np.median(scaled)
    kept = arrays("chdtrc")(own.freedom, own.freedom * own.variance / typical[own.table]) > OUTLIER
    none = np.bincount(own.table, kept) == 0
    found: NDArray[np.bool_] = kept | none[own.table]
    return found


def _unusual(kept: NDArray[np.bool_]) -> float:
    """The share of the outliers, beyond those of chance."""
    outliers = len(kept) - kept.sum() - 1 - CHANCE * len(kept)
    return max(float(outliers) / len(kept), 0.0)


def _medians(values: Array, table: Numbers) -> Array:
    order = np.lexsort((values, table))
    count = np.bincount(table)
    first = np.cumsum(count) - count
    values = values[order]
    medians: Array = (values[first + (count - 1) // 2] + values[first + count // 2]) / 2
    return medians


def _pooled(own: Spreads, kept: NDArray[np.bool_]) -> Noise:
    """Of each table."""
    freedom = np.bincount(own.table, kept * own.freedom)
    squares = np.bincount(own.table, kept * own.freedom * own.variance)
    return Noise(squares / freedom, _counted_of_tables(own, kept))


def _counted_of_tables(own: Spreads, kept: NDArray[np.bool_]) -> Array:
    count, freedom = np.bincount(own.base, kept), np.bincount(own.base, kept * own.freedom)
    table = np.zeros(len(count), np.intp)
    table[own.base] = own.table
    counted: Array = np.bincount(table, _counted(count, freedom)).astype(np.float64)
    return counted


def _others(own: Spreads, kept: NDArray[np.bool_]) -> Noise:
    """What the others of its table show, for each comparison."""
    mine = kept * own.freedom
    freedom = np.bincount(own.table, mine)[own.table] - mine
    squares = np.bincount(own.table, mine * own.variance)[own.table] - mine * own.variance
    count, shared = np.bincount(own.base, kept)[own.base], np.bincount(own.base, mine)[own.base]
    lost = _counted(count, shared) - _counted(count - kept, shared - mine)
    counted = _counted_of_tables(own, kept)[own.table] - lost
    some = freedom > 0
    return Noise(np.maximum(squares, 0) / np.where(some, freedom, 1), np.where(some, counted, 0))


def _counted(count: Array | Numbers, freedom: Array | Numbers) -> Array:
    """Differences from one base correlate by a half, their squares by a quarter: k of them count as k/(1+(k-1)/4)."""
    counted: Array = freedom / (1 + np.maximum(count - 1, 0) / 4)
    return counted


def _prior(pooled: Noise) -> _Prior:
    """Over the tables: how noisy one is that says nothing itself."""
    usual = _usual(pooled)
    variance, freedom = pooled.variance[usual], pooled.freedom[usual]
    if len(variance) < 2:
        return _Prior(1.0, 0.0)
    logs, error = _log_variances(variance, freedom)
    unlike, weights = 0.0, 1 / error
    for _ in range(3):
        rest = (weights * (logs - np.average(logs, weights=weights)) ** 2).sum() / weights.sum()
        unlike = max(rest * len(logs) / (len(logs) - 1) - np.average(error, weights=weights), 0.0)
        weights = 1 / (error + unlike)
    hidden = HIDDEN * np.sqrt(2 / (len(logs) - 1)) * (unlike + error.mean())
    counted = float(_freedom(np.array(unlike + hidden)))
    bias = float(arrays("psi")(counted / 2)) - np.log(counted / 2)
    typical = float(np.exp(np.average(logs, weights=weights) + bias))
    mean = float(np.average(variance, weights=freedom))  # the typical one holds too little of noisy tables
    return _Prior(max(typical, float(np.sqrt(typical * mean))), counted)


def _usual(pooled: Noise) -> NDArray[np.bool_]:
    ratio = pooled.variance / np.median(pooled.variance)
    usual: NDArray[np.bool_] = arrays("chdtrc")(pooled.freedom, pooled.freedom * ratio) > OUTLIER
    return usual if usual.sum() >= TYPICAL_OF_REPORT else np.ones(len(ratio), bool)


def _alike(own: Spreads, kept: NDArray[np.bool_]) -> Array:
    """How alike the comparisons of each table are, as degrees of freedom: of all tables, and of one that is less so."""
    table, base = own.table[kept], own.base[kept]
    logs, error = _log_variances(own.variance[kept], own.freedom[kept])
    count = np.bincount(table)
    rest = logs - (np.bincount(table, logs) / count)[table]
    squares, freedom = np.bincount(table, rest**2), count - 1.0
    chance = np.bincount(table, error) / count * (1 - DEPENDENCE * _sharing(table, base))
    every = max(float((squares - freedom * chance).sum()) / max(freedom.sum(), 1), 0.0)
    alone = squares / np.maximum(freedom, 1) - chance
    surely = alone - np.sqrt(2 / np.maximum(freedom, 1)) * (np.maximum(alone, 0) + chance)
    return _freedom(np.maximum(every, surely))


def _sharing(table: Numbers, base: Numbers) -> Array:
    """The share of the pairs of a table that have one base."""
    count, shared = np.bincount(table), np.bincount(base)
    of = np.zeros(len(shared), np.intp)
    of[base] = table
    return np.bincount(of, shared * (shared - 1.0)) / np.maximum(count * (count - 1.0), 1)


def _log_variances(variance: Array, freedom: Array) -> tuple[Array, Array]:
    """Without their bias, and the variance that chance alone gives them."""
    half = freedom / 2
    return np.log(variance) - arrays("psi")(half) + np.log(half), arrays("zeta")(2, half)


def _freedom(unlike: Array) -> Array:
    """Of a chi-square whose logarithm varies by so much: the inverse of the trigamma function, by bisection."""
    low, high = np.full(unlike.shape, 1e-3), np.full(unlike.shape, MANY)
    for _ in range(32):
        middle = np.sqrt(low * high)
        more = arrays("zeta")(2, middle / 2) > unlike
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return low


def _sum(others: Noise, prior: _Prior) -> Noise:
    """Each counts by its degrees of freedom."""
    freedom = others.freedom + prior.freedom
    squares = others.freedom * others.variance + prior.freedom * prior.variance
    return Noise(np.where(freedom > 0, squares / np.maximum(freedom, 1e-9), 1), freedom)
