"""How many standard errors the intervals of a table reach, so that they hold together: Dunnett's critical values.

Arms that are compared with one base share its error, so their ratios correlate by a half. scipy.stats has the test of
raw figures, all of one variance; the intervals here have variances of their own, and a table may have several bases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from stepgrid.summarize.statistics.scipy_functions import arrays, special

Array = NDArray[np.float64]

HALF = math.sqrt(0.5)
MOST_FREEDOMS = 200  # degrees of freedom: more change nothing that is printed
NEAR = 0.01  # of a step
STEPS = 2  # of a degree of freedom: rounded down to halves, so that few values are worked out


def criticals(arms: Sequence[int], freedom: Array, common: Array, alpha: float) -> Array:
    """`arms`: how many are compared with each base of the table; `common`: of the errors of the variances, the share
    that is the same for all of them."""
    rounded = np.maximum(np.floor(np.minimum(freedom, MOST_FREEDOMS) * STEPS + NEAR) / STEPS, 1 / STEPS)
    values, where = np.unique(rounded, return_inverse=True)
    sizes = tuple(sorted(arms))
    apart, alike = (np.array([critical(sizes, float(each), way, alpha) for each in values]) for way in (False, True))
    found: Array = apart[where] + common * (alike - apart)[where]
    return found


@cache
def critical(arms: tuple[int, ...], freedom: float, common: bool, alpha: float) -> float:
    """Two-sided; by bisection between what one comparison needs and Bonferroni's."""
    low, high = (-special("stdtrit", freedom, alpha / 2 / count) for count in (1, sum(arms)))
    while sum(arms) > 1 and high - low > 1e-4 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if _chance(middle, arms, freedom, common) > 1 - alpha else (middle, high)
    return high


def _chance(reach: float, arms: tuple[int, ...], freedom: float, common: bool) -> float:
    """That all intervals of the table hold: over the errors of the variances and, for each base, its own."""
    errors, weights = _nodes()
    scale, parts = _scales(freedom)
    ndtr = arrays("ndtr")
    one = ndtr((reach * scale - HALF * errors) / HALF) - ndtr((-reach * scale - HALF * errors) / HALF)
    one = one if common else parts @ one
    sizes, counts = np.unique(arms, return_counts=True)
    every = np.prod([((one**size) @ weights) ** count for size, count in zip(sizes, counts, strict=True)], axis=0)
    return float(every @ parts if common else every)


@cache
def _nodes() -> tuple[Array, Array]:
    """Of a standard normal variable."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    return nodes, weights / weights.sum()


@cache
def _scales(freedom: float) -> tuple[Array, Array]:
    """Of an estimated standard deviation over the true one."""
    nodes, weights = np.polynomial.legendre.leggauss(48)
    chance = (nodes + 1) / 2
    return np.sqrt(arrays("chdtri")(freedom, 1 - chance) / freedom)[:, None], weights / 2
