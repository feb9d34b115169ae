"""The best of many arms: which may be the best, and the interval of each as a ratio to the best, all at once.

Comparisons with the best as of Hsu (1984), here by all pairs, so that of arms that are alike none is called worse. A
fifth of the error is spent on who is surely worse than another, the rest on those left, of whom there are fewer pairs.
bench/best.py simulates how often that is wrong; docs/concepts/best.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from stepgrid.model.plan import ALPHA
from stepgrid.summarize.statistics.confidence_intervals import FLOOR, arrays, exp, special, typical_variance

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Figures = Mapping[str, Mapping[int, float]]  # arm -> load -> figure above 0; equal loads were measured side by side

SCREENING = 0.2  # of the error, to tell who is surely worse than another; the rest is for those that are left
LOADS_TO_BEAT = 3  # of an arm that beats another: two may agree by chance
DOUBTS = (3.5, 2.5)  # arms of one load, and of two, are taken for so much noisier than the others
NOISY = 0.05  # chance of so high a variance below which an arm has its own noise alone
LITTLE = 1e-6  # weight, in loads, of the knowledge that two blocks are about alike: it ties blocks without a common arm
MOST_FREEDOM = 1e4


class Standing(StrEnum):
    WITHIN = "within"  # surely within the smallest effect of the best
    OPEN = "open"  # may be the best, may be farther from it than the smallest effect
    WORSE = "worse"  # surely not the best
    BEYOND = "beyond"  # surely farther from the best than the smallest effect


class Ranked(Struct, frozen=True):
    """An arm and its ratio to the best of all: 1 is the best, 0.9 is nine tenths of its rate, 1.1 of a time.

    A single load has the noise of the other arms, which may not be its own.
    """

    arm: str
    loads: int
    ratio: float
    low: float
    high: float
    standing: Standing
    error: float  # standard error of the logarithm of its ratio to the best estimate
    reach: float  # of the interval of this ratio, as a logarithm


class Ranking(Struct, frozen=True):
    """All arms, the best estimate first."""

    arms: tuple[Ranked, ...] = ()

    def of(self, *standings: Standing) -> list[Ranked]:
        return [arm for arm in self.arms if arm.standing in standings]

    @property
    def candidates(self) -> list[Ranked]:
        """The arms among which the best surely is."""
        return [arm for arm in self.arms if arm.low <= 1 <= arm.high]


def rank_arms(figures: Figures, effect: float, alpha: float = ALPHA, is_less_better: bool = False) -> Ranking:
    """Compare all arms with the best of them, whichever that is; `alpha` is the chance of any wrong statement.

    Ratios of a metric of which less is better are 1 and above. An arm without a load is left out.
    """
    names = [name for name, loads in figures.items() if loads]
    sign, margin = (-1.0 if is_less_better else 1.0), math.log1p(effect)
    contrasts = _contrasts([figures[name] for name in names])
    means = sign * contrasts.means
    gaps = means[:, None] - means[None, :]  # row against column
    can_beat = np.array([len(figures[name]) >= LOADS_TO_BEAT for name in names], bool)
    reach, candidates = _reaches(contrasts, gaps, can_beat, alpha)
    low = np.where(candidates, gaps - reach, math.inf).min(axis=1, initial=0).tolist()
    high = np.where(can_beat, gaps + reach, math.inf).min(axis=1, initial=0).tolist()
    order = np.argsort(-means, kind="stable").tolist()
    ranked = []
    for at in order:
        least, most = sorted(exp(sign * end) for end in (low[at], high[at]))
        pair = (at, order[0])
        width = float(contrasts.errors[pair]), float(reach[pair])
        ratio, loads = exp(sign * float(gaps[pair])), len(figures[names[at]])
        ranked.append(Ranked(names[at], loads, ratio, least, most, _standing(low[at], high[at], margin), *width))
    return Ranking(tuple(ranked))


def _standing(low: float, high: float, margin: float) -> Standing:
    if high < -margin:
        return Standing.BEYOND
    if low >= -margin:
        return Standing.WITHIN
    return Standing.WORSE if high < 0 else Standing.OPEN


def _reaches(contrasts: Contrasts, gaps: Array, can_beat: Flags, alpha: float) -> tuple[Array, Flags]:
    """Return how far the interval of each pair reaches, and which arms may be the best."""
    candidates = np.ones(len(gaps), bool)
    reach = contrasts.errors
    for share in (SCREENING, 1 - SCREENING):
        count = max(int(candidates.sum()), 2)
        critical = _criticals(contrasts.freedom, share * alpha / (count * (count - 1)))
        both = candidates[:, None] & candidates[None, :]
        reach = np.where(both, critical * contrasts.errors, reach)
        np.fill_diagonal(reach, 0)
        candidates = np.logical_not((((gaps + reach) < 0) & can_beat).any(axis=1))
    return reach, candidates


class Contrasts(Struct, frozen=True):
    means: Array  # of the logarithms, without what the loads of one number have in common
    errors: Array  # standard errors of the difference of each pair
    freedom: Array


def _contrasts(loads_by_arm: Sequence[Mapping[int, float]]) -> Contrasts:
    """Fit arm + block by least squares; a block is what was measured side by side, the loads of one number.

    The variance of a pair's difference is that of both arms over their loads, and of the blocks that only one has.
    """
    blocks = {load: at for at, load in enumerate(sorted({load for loads in loads_by_arm for load in loads}))}
    values = np.full((len(loads_by_arm), len(blocks)), np.nan)
    for arm, loads in enumerate(loads_by_arm):
        for load, figure in loads.items():
            values[arm, blocks[load]] = math.log(figure)
    if len(values) < 2:
        return Contrasts(np.zeros(len(values)), *np.ones((2, len(values), len(values))))
    has_load = ~np.isnan(values)
    values, shares = np.nan_to_num(values), has_load / has_load.sum(axis=1, keepdims=True)
    raw = (shares * values).sum(axis=1)
    ties = np.diag(has_load.sum(axis=0) + LITTLE) - has_load.T @ shares
    spread = np.linalg.inv(ties)  # of the blocks, for a noise of 1
    effects = spread @ (has_load * (values - raw[:, None])).sum(axis=0)
    means = raw - shares @ effects
    residuals = has_load * (values - means[:, None] - effects)
    offsets = np.eye(len(blocks))[None] - shares[:, None, :]
    leverage = 1 / has_load.sum(axis=1, keepdims=True) + np.einsum("alb,bc,alc->al", offsets, spread, offsets)
    freedom = np.maximum((has_load * (1 - leverage)).sum(axis=1), 0)
    noise = _noise((residuals**2).sum(axis=1), freedom)
    counts = has_load.sum(axis=1)
    spreads = noise.variance * np.select([counts == 1, counts == 2], np.square(DOUBTS), 1.0) / counts
    projected = shares @ spread
    quadratic = (projected * shares).sum(axis=1)
    between = noise.pooled * np.maximum(quadratic[:, None] + quadratic[None, :] - 2 * projected @ shares.T, 0)
    variance = spreads[:, None] + spreads[None, :] + between
    doubt = spreads / np.sqrt(noise.freedom)  # arms share what is known of the noise, so their doubts add up
    pair_freedom = variance**2 / (doubt[:, None] + doubt[None, :] + between / math.sqrt(noise.pooled_freedom)) ** 2
    return Contrasts(means, np.sqrt(variance), pair_freedom)


class Noise(Struct, frozen=True):
    variance: Array  # of a load of each arm
    freedom: Array
    pooled: float
    pooled_freedom: float


def _noise(squares: Array, freedom: Array) -> Noise:
    """Draw each arm's variance towards that of all (Smyth 2004); an arm that is clearly noisier keeps its own."""
    shows = freedom > 1 / 3
    if not shows.any():
        return Noise(np.ones(len(freedom)), np.full(len(freedom), 1e-3), 1.0, 1e-3)
    total = float(freedom.sum())
    spreads = np.where(shows, np.maximum(squares / np.where(shows, freedom, 1), FLOOR), FLOOR)
    pooled = max(float(squares.sum()) / total, FLOOR)
    typical, weight = typical_variance(spreads[shows], freedom[shows])
    if not weight:
        typical, weight = pooled, total
    chance = arrays("fdtrc")(np.where(shows, freedom, 1), weight, spreads / typical)
    is_noisy = shows & (chance < NOISY)
    prior = np.where(is_noisy, 0, np.minimum(weight, total - freedom))  # its own is among the total
    together = np.where(shows, prior + freedom, weight)
    variance = np.where(shows, (prior * typical + freedom * spreads) / together, typical)
    return Noise(variance, together, pooled, total)


def _criticals(freedom: Array, tail: float) -> Array:
    """Return Student's quantile of a pair by its degrees of freedom, by lines over their inverse."""
    nodes = np.concatenate([[0.0], np.geomspace(1e-4, 1 / 0.3, 60)])
    values = [special("stdtrit", 1 / node if node else MOST_FREEDOM, 1 - tail) for node in nodes.tolist()]
    inverse = 1 / np.clip(freedom, 1e-6, MOST_FREEDOM)
    critical: Array = np.exp(np.interp(inverse, nodes, np.log(values), right=math.inf))
    return critical
