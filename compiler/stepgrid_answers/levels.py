"""Levels of figures: of the seconds or loads of a run, and along a ladder of versions or days.

A ladder is a grid of logarithms: a row for each version, in order, a column for each load (NaN where one is missing).
A grid without its rows' and its loads' means is noise, whatever the versions do. Binary segmentation cuts a stretch
where its two sides differ most, as long as that is less likely than `alpha` among all of its cuts. A change that is not
wholly beyond the smallest effect is dropped, and its sides are one level again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from stepgrid.model.table import group
from stepgrid.summarize.comparisons.ladders import LevelChange
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.confidence_intervals import Array, Values, exp, special

FEWEST_OF_LEVELS, LEAST_SHARE = 30, 0.2  # seconds of a series with two levels, and the share of the rarer one
LEVELS_APART, SPREADS_APART = 1.3, 6.0  # the upper over the lower; their distance over their own deviation
FEWEST_LOADS, GAPS_APART = 4, 8.0  # two of each level; the gap over the wider of the two ranges
FEWEST_APART = 6  # rows that were measured on days of their own
MEDIAN_OF_NORMAL = 0.6745  # of the distances from the mean, in standard deviations
LEAST_NOISE = 0.0025  # figures are rounded
PASSES = 4  # over rows and loads of an incomplete grid


class MeasuredFigure(NamedTuple):
    load: int
    value: float
    is_disturbed: bool  # others used the host


def quiet_figures(figures: Sequence[MeasuredFigure]) -> tuple[Values, frozenset[int]]:
    """Take those of a quiet host where a load has any; with them the loads that have none."""
    quiet = {figure.load for figure in figures if not figure.is_disturbed}
    counted_figures = (figure for figure in figures if not (figure.is_disturbed and figure.load in quiet))
    values = group((figure.load, figure.value) for figure in counted_figures)
    return values, frozenset(values) - quiet


class TwoLevels(NamedTuple):
    lower: float
    upper: float
    share: float  # of the lower one


def two_levels(seconds: Sequence[float] | Array) -> TwoLevels | None:
    """Split a series where its two parts differ most; None where they are one cloud, or hardly apart.

    In 1,000 series of 60 s of noise, normal or skewed, of 5 to 40 %, none has two levels (tests/answers).
    """
    values = np.sort(np.asarray(seconds, dtype=float))
    count, fewest = len(values), math.ceil(LEAST_SHARE * len(values))
    if count < FEWEST_OF_LEVELS or values[-fewest] < LEVELS_APART * values[fewest - 1]:
        return None
    cuts, sums = np.arange(fewest, count - fewest + 1), np.cumsum(values)
    differences = (sums[-1] - sums[cuts - 1]) / (count - cuts) - sums[cuts - 1] / cuts
    cut = int(cuts[int(np.argmax(cuts * (count - cuts) * differences**2))])
    lower, upper = float(np.median(values[:cut])), float(np.median(values[cut:]))
    spread = math.sqrt((float(values[:cut].var()) + float(values[cut:].var())) / 2)
    if lower <= 0 or upper < LEVELS_APART * lower or upper - lower < SPREADS_APART * spread:
        return None
    return TwoLevels(lower, upper, cut / count)


def two_levels_of_loads(means: Sequence[float]) -> TwoLevels | None:
    """Split few loads where a gap is far wider than what lies on both sides of it: two loads or more each."""
    values = sorted(means)
    if len(values) < FEWEST_LOADS:
        return None
    cut = max(range(2, len(values) - 1), key=lambda at: values[at] - values[at - 1])
    lower, upper = values[:cut], values[cut:]
    width = max(lower[-1] - lower[0], upper[-1] - upper[0])
    if lower[0] <= 0 or upper[0] < LEVELS_APART * lower[-1] or upper[0] - lower[-1] < GAPS_APART * width:
        return None
    return TwoLevels(float(np.median(lower)), float(np.median(upper)), cut / len(values))


def changes(grid: Array, effect: float, alpha: float, is_apart: bool = False) -> list[LevelChange] | None:
    """Find the changes of level; `alpha` is the chance that a ladder without a change has one.

    `is_apart`: the rows were measured on days of their own. None where nothing shows the noise.
    """
    levels = _levels_apart(grid, alpha) if is_apart else _levels(grid, alpha)
    if levels is None:
        return None
    cuts = sorted(_cuts(levels, 0, len(grid)))
    while cuts:
        steps = list(_changes(levels, [0, *cuts, len(grid)], effect))
        weak = [step for step in steps if step.verdict not in verdicts.DIFFERENCES]
        if not weak:
            return steps
        cuts.remove(min(weak, key=lambda step: abs(math.log(step.ratio))).at)
    return []


class _Levels(NamedTuple):
    means: Array  # of each row
    counts: Array  # its loads
    error: float  # standard deviation of one figure
    freedom: float
    alpha: float

    def step(self, first: int, at: int, end: int) -> tuple[float, float]:
        """Return by how much the second part differs, and its standard error."""
        before, after = slice(first, at), slice(at, end)
        counts = [float(self.counts[part].sum()) for part in (before, after)]
        sums = [float((self.means[part] * self.counts[part]).sum()) for part in (before, after)]
        error = self.error * math.sqrt(1 / counts[0] + 1 / counts[1])
        return sums[1] / counts[1] - sums[0] / counts[0], error


def _levels(grid: Array, alpha: float) -> _Levels | None:
    counts = (~np.isnan(grid)).sum(axis=1)
    rows, loads = grid.shape
    freedom = int(counts.sum()) - rows - loads + 1
    if rows < 2 or freedom < 1 or not counts.all():
        return None
    for _ in range(PASSES):  # one is enough for a complete grid; a missing load is no change of its version
        noise = grid - np.nanmean(grid, axis=1)[:, None]
        grid = grid - np.nanmean(noise, axis=0)
    means = np.nanmean(grid, axis=1)
    error = math.sqrt(float(np.nansum((grid - means[:, None]) ** 2)) / freedom)
    return _Levels(means, counts.astype(float), max(error, 1e-9), freedom, alpha)


def _levels_apart(grid: Array, alpha: float) -> _Levels | None:
    """Take the noise from one row to the next: the median of the steps, of which few are changes, has no part in them.

    What the loads of a row say is the least that it can be."""
    means = np.nanmean(grid, axis=1)
    rows = len(means)
    if rows < FEWEST_APART:
        return None
    steps = np.median(np.abs(np.diff(means))) / (MEDIAN_OF_NORMAL * math.sqrt(2))
    counts = (~np.isnan(grid)).sum(axis=1)
    several = counts > 1
    variances = np.nanvar(grid[several], axis=1, ddof=1) / counts[several] if several.any() else np.zeros(1)
    distinct = np.unique(means)
    # rows that agree to the digit are on steps of a coarse clock, not without noise
    clock = float(np.diff(distinct).min()) / 2 if 1 < len(distinct) < rows else 0.0
    error = max(float(steps), math.sqrt(float(np.median(variances))), clock, LEAST_NOISE)
    return _Levels(means, np.ones(rows), error, (rows - 1) / 2, alpha)


def _cuts(levels: _Levels, first: int, end: int) -> Iterator[int]:
    if end - first < 2:
        return
    steps = {at: levels.step(first, at, end) for at in range(first + 1, end)}
    sizes = {at: abs(step) / error for at, (step, error) in steps.items()}
    best = max(sizes, key=sizes.__getitem__)
    if 2 * special("stdtr", levels.freedom, -sizes[best]) * len(sizes) <= levels.alpha:
        yield best
        yield from _cuts(levels, first, best)
        yield from _cuts(levels, best, end)


def _changes(levels: _Levels, bounds: Sequence[int], effect: float) -> Iterator[LevelChange]:
    """Give each step an interval; those of all possible changes hold together."""
    reach = special("stdtrit", levels.freedom, 1 - levels.alpha / (2 * (len(levels.means) - 1)))
    for first, at, end in zip(bounds, bounds[1:], bounds[2:], strict=False):
        step, error = levels.step(first, at, end)
        low, high = exp(step - reach * error), exp(step + reach * error)
        yield LevelChange(at, first, exp(step), low, high, verdicts.verdict(low, high, effect))
