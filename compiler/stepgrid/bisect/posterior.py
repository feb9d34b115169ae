"""Which candidate is the first slower one: a probability for each, from the figures of those that were measured.

Logarithms of figures are normal around one level before the change and another one from it on. Both levels and the
noise are unknown and integrated out; the noise begins with a weak guess.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Samples: TypeAlias = Mapping[int, Sequence[float]]  # candidate -> logarithms, one per load

NOISE = 0.02  # of a load, before anything was measured
WEIGHT = 2.0  # degrees of freedom that the guess counts for
_STEPS = 101  # of the grid on which information is worked out
_REACH = 6.0  # standard deviations on both sides
_TINY = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ChangePoint:
    """What is known of the change; index 0 of each array means that candidate 1 is the first slower one."""

    probability: Array
    before: Array  # mean level, and how many figures
    after: Array
    figures_before: Array
    figures_after: Array
    noise: Array  # standard deviation of a load
    freedom: float

    def most_probable(self) -> int:
        return int(self.probability.argmax())


def change_point(count: int, samples: Samples) -> ChangePoint:
    """Of `count` candidates, of which the first and the last have figures."""
    figures, sums, squares = np.zeros((3, count))
    for candidate, logs in samples.items():
        values = np.asarray(logs, float)
        figures[candidate], sums[candidate], squares[candidate] = values.size, values.sum(), (values**2).sum()
    before, sum_before = figures.cumsum()[:-1], sums.cumsum()[:-1]
    after, sum_after = figures.sum() - before, sums.sum() - sum_before
    scatter = np.maximum(squares.sum() - sum_before**2 / before - sum_after**2 / after, 0.0)
    freedom = WEIGHT + figures.sum() - 2
    variance = (WEIGHT * NOISE**2 + scatter) / freedom
    weight = -0.5 * np.log(before * after) - freedom / 2 * np.log(variance)
    chance = np.exp(weight - weight.max())
    levels = sum_before / before, sum_after / after
    return ChangePoint(chance / chance.sum(), *levels, before, after, np.sqrt(variance), freedom)


def information(found: ChangePoint, candidates: Sequence[int]) -> Array:
    """Of one more load of each candidate: how much of the uncertainty (in nats) its figure is expected to take away."""
    likely = found.probability > _TINY
    chance = (found.probability[likely] / found.probability[likely].sum())[:, None]
    first_slower = np.flatnonzero(likely) + 1
    spacing, before, after = _predictive(found, likely)
    entropy_before, entropy_after = (_entropy(density, spacing) for density in (before, after))
    gains = []
    for candidate in candidates:
        is_before = candidate < first_slower
        mixed = (np.where(is_before[:, None], before, after) * chance).sum(0)
        known = (np.where(is_before, entropy_before, entropy_after) * chance[:, 0]).sum()
        gains.append(float(_entropy(mixed[None], spacing)[0] - known))
    found_gains: Array = np.maximum(np.array(gains), 0.0)
    return found_gains


def _predictive(found: ChangePoint, likely: NDArray[np.bool_]) -> tuple[float, Array, Array]:
    """The densities of the next figure on either side, a row for each change point that is likely."""
    noise = found.noise[likely]
    sides = [
        (found.before[likely], noise * np.sqrt(1 + 1 / found.figures_before[likely])),
        (found.after[likely], noise * np.sqrt(1 + 1 / found.figures_after[likely])),
    ]
    low = min(float((level - _REACH * spread).min()) for level, spread in sides)
    high = max(float((level + _REACH * spread).max()) for level, spread in sides)
    grid = np.linspace(low, high, _STEPS)
    spacing = float(grid[1] - grid[0])
    before, after = (_student(grid, level, spread, found.freedom, spacing) for level, spread in sides)
    return spacing, before, after


def _student(grid: Array, level: Array, spread: Array, freedom: float, spacing: float) -> Array:
    """Normalised on the grid, so that no factor is needed."""
    distance = (grid[None, :] - level[:, None]) / spread[:, None]
    density = (1 + distance**2 / freedom) ** (-(freedom + 1) / 2)
    scaled: Array = density / (density.sum(1, keepdims=True) * spacing)
    return scaled


def _entropy(density: Array, spacing: float) -> Array:
    found: Array = -(density * np.log(density + 1e-300)).sum(-1) * spacing
    return found


def groups(found: ChangePoint, unusable: Collection[int]) -> list[tuple[int, int, float]]:
    """(last good, first bad, probability): what lies between the two cannot be measured, so nothing separates it."""
    usable = [each for each in range(len(found.probability) + 1) if each not in unusable]
    edges = pairwise(usable)
    return [(low, high, float(found.probability[low:high].sum())) for low, high in edges]
