"""The noise of each comparison of a report: its own loads show little of it, so the other comparisons help.

Smyth's shrinkage (limma, 2004). Each variance is drawn towards an expected one: the pooled variance of the other
comparisons of its table, and the typical variance of the report's tables. The expected variance counts for more degrees
of freedom the more alike the variances are. Two guards: an outlier tells nothing of the others, and a comparison that
is clearly noisier than expected keeps its own variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepgrid.summarize.statistics.scipy_functions import arrays

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]
Flags = NDArray[np.bool_]

FLOOR = 0.0025**2  # figures are rounded: loads that agree to the digit do not show that there is no noise
OUTLIER = 0.002  # chance of so high a variance below which it tells nothing of the others
FEWEST = 4  # comparisons that have a median of their own, and tables that have a typical variance without outliers
CAUTION = 0.3  # standard errors by which a few tables may be less alike than they look
NOISY = (0.05, 0.8)  # a comparison this unlikely to be as quiet as expected has only its own noise: least and most
UNSURE, LITTLE, OFTEN = 0.8, 4.5, 20.0  # at one degree of freedom; degrees of freedom of the others; per outlier
TINY, MANY = 1e-9, 1e5  # degrees of freedom: of a variance that is unknown, and of one that is known


class Spreads(NamedTuple):
    """Variances of the loads of each comparison; `table` and `base` count from 0."""

    variance: Array
    freedom: Array
    table: Numbers
    base: Numbers


class Moderated(NamedTuple):
    """`common`: the share of the error of a variance that the others of its table have, too."""

    variance: Array
    freedom: Array
    common: Array


def moderated(spreads: Spreads) -> Moderated:
    spreads = spreads._replace(variance=np.maximum(spreads.variance, FLOOR))
    usual = _usual(spreads)
    expected, evidence = _expected(spreads, usual)
    weight = 1 / (1 / _likeness(spreads, usual) + 1 / np.maximum(evidence, TINY))
    chance = arrays("fdtrc")(spreads.freedom, weight, spreads.variance / expected)
    weight = np.where(chance < _least_chance(spreads.freedom, evidence, usual), 0, weight)
    freedom = weight + spreads.freedom
    variance = (weight * expected + spreads.freedom * spreads.variance) / freedom
    return Moderated(variance, freedom, weight**2 / np.maximum(evidence * freedom, TINY))


def _usual(spreads: Spreads) -> Flags:
    """Flag the comparisons that are no outliers; all, where fewer than four tables would have one."""
    typical = spreads.variance * spreads.freedom / arrays("chdtri")(spreads.freedom, 0.5)
    medians = np.full(spreads.table.max() + 1, np.median(typical))
    for table in np.flatnonzero(np.bincount(spreads.table) >= FEWEST):
        medians[table] = np.median(typical[spreads.table == table])
    ratio = spreads.variance / medians[spreads.table]
    usual: Flags = arrays("chdtrc")(spreads.freedom, spreads.freedom * ratio) > OUTLIER
    empty = np.bincount(spreads.table, usual) == 0
    return usual | empty[spreads.table] if (~empty).sum() < FEWEST else usual


def _least_chance(freedom: Array, evidence: Array, usual: Flags) -> Array:
    """Return the chance below which a comparison has only its own noise.

    A noisy one of two or three loads often looks quiet, so it is believed less, the more so where little is evidence of
    the others, or more of them are outliers than chance makes.
    """
    outliers = max(len(usual) - usual.sum() - 1 - 2 * OUTLIER * len(usual), 0) / len(usual)
    chance = UNSURE / freedom**4 * (1 + (LITTLE / np.maximum(evidence, 1e-3)) ** 3) + min(OFTEN * outliers, 0.6)
    return np.where(evidence > 0, np.clip(chance, *NOISY), 1.1)


def _expected(spreads: Spreads, usual: Flags) -> tuple[Array, Array]:
    """Combine the others of the table and the typical table: variance, and the degrees of freedom that it counts for.

    Comparisons with one base count for less: they correlate by a half, their variances by a quarter.
    """
    sharing = np.bincount(spreads.base, usual)[spreads.base] - 1
    weight = usual * spreads.freedom / (1 + np.maximum(sharing - 1, 0) / 4)
    tables: Array = np.bincount(spreads.table, weight).astype(np.float64)
    squares: Array = np.bincount(spreads.table, weight * spreads.variance).astype(np.float64)
    typical, typical_freedom = _typical(squares[tables > 0] / tables[tables > 0], tables[tables > 0])
    freedom = tables[spreads.table] - weight + typical_freedom
    total = squares[spreads.table] - weight * spreads.variance + typical_freedom * typical
    is_known = freedom > TINY
    return np.where(is_known, total / np.where(is_known, freedom, 1), 1), np.where(is_known, freedom, 0)


def _typical(variance: Array, freedom: Array) -> tuple[float, float]:
    """Fit the variance of a table that shows nothing itself, and the degrees of freedom that it counts for."""
    if len(variance) < 2:
        return 1.0, 0.0
    logs, error = _log_variances(variance, freedom)
    spread = max(float(logs.var(ddof=1) - error.mean()), 0.0)
    hidden = CAUTION * np.sqrt(2 / (len(logs) - 1)) * (spread + error.mean())
    half = _freedom_of_spread(spread + hidden) / 2
    return float(np.exp(logs.mean() + arrays("psi")(half) - np.log(half))), 2 * half


def _likeness(spreads: Spreads, usual: Flags) -> float:
    """Measure how alike the comparisons within the tables are, as degrees of freedom."""
    table = spreads.table[usual]
    logs, error = _log_variances(spreads.variance[usual], spreads.freedom[usual])
    count = np.maximum(np.bincount(table), 1)
    logs -= (np.bincount(table, logs) / count)[table]
    freedom = len(logs) - len(np.unique(table))
    scatter, chance = (logs**2).sum(), (error * (1 - 1 / count[table])).sum()
    return _freedom_of_spread(max(float(scatter - chance) / freedom, 0.0)) if freedom else MANY


def _log_variances(variance: Array, freedom: Array) -> tuple[Array, Array]:
    """Return their logarithms without bias, and the variance that chance alone gives these."""
    half = freedom / 2
    return np.log(variance) - arrays("psi")(half) + np.log(half), arrays("zeta")(2, half)


def _freedom_of_spread(spread: float) -> float:
    """Return the degrees of freedom of a chi-square whose logarithm has this variance: the trigamma's inverse."""
    low, high = 1e-3, MANY
    for _ in range(32):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if arrays("zeta")(2, middle / 2) > spread else (low, middle)
    return low
