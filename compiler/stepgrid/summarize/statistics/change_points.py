"""Where figures along an order change: binary segmentation of the means, by the noise of the loads around them.

A ladder is a grid of logarithms: a row for each version, in order, a column for each load (NaN where one is missing).
What is left of the grid without its rows' and its loads' means is noise, whatever the versions do. A stretch is cut
where its two sides differ most, as long as that is less likely than `alpha` among all of its cuts; a change that is not
wholly beyond the smallest effect is none, and its sides are one level again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.confidence_intervals import exp
from stepgrid.summarize.statistics.scipy_functions import special

Array = NDArray[np.float64]
PASSES = 4


class Change(NamedTuple):
    at: int  # the first row of the new level
    before: int  # the first row of the level before it
    ratio: float
    low: float
    high: float
    verdict: str


class _Levels(NamedTuple):
    means: Array  # of each row
    counts: Array  # its loads
    error: float  # standard deviation of one figure
    freedom: float
    alpha: float

    def level(self, first: int, end: int) -> tuple[float, float]:
        """Mean of a stretch, and how many figures it has."""
        count = float(self.counts[first:end].sum())
        return float((self.means[first:end] * self.counts[first:end]).sum()) / count, count

    def step(self, first: int, at: int, end: int) -> tuple[float, float]:
        """By how much the second part differs, and its standard error."""
        (one, few), (other, many) = self.level(first, at), self.level(at, end)
        return other - one, self.error * math.sqrt(1 / few + 1 / many)


def changes(grid: Array, effect: float, alpha: float) -> list[Change]:
    """`alpha`: the chance that a ladder without a change has one. None where nothing tells the noise."""
    known = _levels(grid, alpha)
    if known is None:
        return []
    cuts = sorted(_cuts(known, 0, len(grid)))
    while cuts:
        found = [*_changes(known, [0, *cuts, len(grid)], effect)]
        weak = [each for each in found if each.verdict not in verdicts.DIFFERENCES]
        if not weak:
            return found
        cuts.remove(min(weak, key=lambda each: abs(math.log(each.ratio))).at)
    return []


def _levels(grid: Array, alpha: float) -> _Levels | None:
    counts = (~np.isnan(grid)).sum(axis=1)
    rows, loads = grid.shape
    freedom = int(counts.sum()) - rows - loads + 1
    if rows < 2 or freedom < 1 or not counts.all():
        return None
    even = _without_loads(grid)
    means = np.nanmean(even, axis=1)
    error = math.sqrt(float(np.nansum((even - means[:, None]) ** 2)) / freedom)
    return _Levels(means, counts.astype(float), max(error, 1e-9), freedom, alpha)


def _without_loads(grid: Array) -> Array:
    """What a load has in common is no change of a version that lacks it; of a complete grid one sweep is enough."""
    for _ in range(PASSES):
        left = grid - np.nanmean(grid, axis=1)[:, None]
        grid = grid - np.nanmean(left, axis=0)
    return grid


def _cuts(known: _Levels, first: int, end: int) -> Iterator[int]:
    if end - first < 2:
        return
    sizes = {at: _size(known.step(first, at, end)) for at in range(first + 1, end)}
    best = max(sizes, key=sizes.__getitem__)
    if 2 * special("stdtr", known.freedom, -sizes[best]) * len(sizes) <= known.alpha:
        yield best
        yield from _cuts(known, first, best)
        yield from _cuts(known, best, end)


def _size(step: tuple[float, float]) -> float:
    return abs(step[0]) / step[1]


def _changes(known: _Levels, bounds: Sequence[int], effect: float) -> Iterator[Change]:
    """The intervals of all changes that there could be hold together."""
    reach = special("stdtrit", known.freedom, 1 - known.alpha / (2 * (len(known.means) - 1)))
    for first, at, end in zip(bounds, bounds[1:], bounds[2:], strict=False):
        step, error = known.step(first, at, end)
        low, high = exp(step - reach * error), exp(step + reach * error)
        yield Change(at, first, exp(step), low, high, verdicts.verdict(low, high, effect))
