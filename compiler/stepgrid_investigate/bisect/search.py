"""The search by figures alone: how probable each candidate is to be the first bad one, and what to measure next.

Logarithms of figures are normal around one level before the change and another one from it on. Both levels and the
noise are unknown and integrated out; the noise begins with a weak guess."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median, variance
from typing import NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from stepgrid.summarize.statistics.confidence_intervals import special

Array: TypeAlias = NDArray[np.float64]
Samples: TypeAlias = Mapping[int, Sequence[float]]  # candidate -> logarithms, one for each load; less is worse

LEAST, MOST = 3, 12  # loads of each end, of the two candidates of the answer; and of any candidate at most
SURE = 0.97  # of the answer: a load more than 0.95 needs, and half of its errors
BUILD_COST = 3.0  # in loads, at least: a search that measures few candidates is easier to follow
_TWO_SIDED = 0.025  # that two ends do not differ
_MOST_COMPARED = 40  # candidates that are compared, where there are more


class Question(Struct, frozen=True):
    """`smallest`: how far apart the ends are to be, a logarithm; a `threshold` is to lie between the two."""

    count: int
    smallest: float
    threshold: float | None = None
    build_cost: float = BUILD_COST  # in loads

    @property
    def ends(self) -> tuple[int, int]:
        return 0, self.count - 1


class Evidence(Struct, frozen=True):
    samples: Samples = {}
    unusable: Collection[int] = ()  # that could not be built or run
    lower_is_better: bool = False  # then samples are logarithms of 1 / figure

    def loads(self, candidate: int) -> int:
        return len(self.samples.get(candidate, ()))


class Measure(NamedTuple):
    """A step: so many loads of each candidate, those that it has among them."""

    candidates: tuple[int, ...]
    loads: int
    why: str


class Found(Struct, frozen=True):
    """The change came after `low` and is there in `high`; what lies between them cannot be measured."""

    low: int
    high: int
    probability: float


class Unanswered(Struct, frozen=True):
    why: str


Step: TypeAlias = "Measure | Found | Unanswered"


def next_step(question: Question, evidence: Evidence) -> Step:
    if lost := [end for end in question.ends if end in evidence.unusable]:
        return Unanswered(f"the {'good' if lost[0] == 0 else 'bad'} end cannot be measured")
    if min(map(evidence.loads, question.ends)) < LEAST:
        return Measure(question.ends, LEAST, "the two ends")
    if step := _compare_ends(question, evidence):
        return step
    change = change_point(question.count, evidence.samples)
    low, high, probability = max(groups(change, evidence.unusable), key=lambda group: group[2])
    if probability < SURE:
        failure = f"{MOST} loads of each candidate do not tell which it is"
        return _most_informative(question, evidence, change) or Unanswered(failure)
    return _confirm(evidence, change, low, high) or Found(low, high, probability)


def _compare_ends(question: Question, evidence: Evidence) -> Step | None:
    """Continue until the ends differ as they should: then return None."""
    different, enough = _end_probabilities(question, evidence)
    loads = max(map(evidence.loads, question.ends))
    if different >= 1 - _TWO_SIDED:
        return None
    if enough <= _TWO_SIDED:
        return Unanswered("the two ends do not differ as asked")
    if loads >= MOST:
        return Unanswered(f"{loads} loads of each do not tell whether the two ends differ")
    return Measure(question.ends, min(loads + 2, MOST), "whether the two ends differ")


def _end_probabilities(question: Question, evidence: Evidence) -> tuple[float, float]:
    """Estimate that the ends differ in the right direction, and that they do by half of what is searched for."""
    good, bad = (evidence.samples[end] for end in question.ends)
    freedom = WEIGHT + len(good) + len(bad) - 2
    scatter = (len(good) - 1) * variance(good) + (len(bad) - 1) * variance(bad)
    noise = math.sqrt((WEIGHT * NOISE**2 + scatter) / freedom)
    if question.threshold is None:
        error, distance = noise * math.sqrt(1 / len(good) + 1 / len(bad)), fmean(good) - fmean(bad)
        smallest = question.smallest / 2
        return special("stdtr", freedom, distance / error), special("stdtr", freedom, (distance - smallest) / error)
    over = (fmean(good) - question.threshold) / (noise / math.sqrt(len(good)))
    under = (question.threshold - fmean(bad)) / (noise / math.sqrt(len(bad)))
    probability = special("stdtr", freedom, min(over, under))
    return probability, probability


def _confirm(evidence: Evidence, change: ChangePoint, low: int, high: int) -> Measure | None:
    """Measure the two neighbours until they differ by themselves, by what all loads say of the noise."""
    loads = min(evidence.loads(low), evidence.loads(high))
    if loads >= LEAST:
        good, bad = evidence.samples[low], evidence.samples[high]
        error = change.noise_of_load * math.sqrt(1 / len(good) + 1 / len(bad))
        is_different = special("stdtr", change.freedom, (fmean(good) - fmean(bad)) / error) >= 1 - _TWO_SIDED
        if is_different or loads >= MOST:
            return None
    return Measure((low, high), max(LEAST, loads + 1), "the two neighbours of the change, in turn")


def _most_informative(question: Question, evidence: Evidence, change: ChangePoint) -> Measure | None:
    """Choose the load that takes away most of the uncertainty for what it costs.

    Compared are candidates that are built, and a few others that divide the probability evenly."""
    count = change.probability.size
    positions = np.interp(np.linspace(0, 1, _MOST_COMPARED), change.probability.cumsum(), np.arange(1, count + 1))
    near = {int(position) + offset for position in positions for offset in (-1, 0)}
    compared = sorted({index for index in near if 0 <= index <= count} | set(evidence.samples))
    candidates = [index for index in compared if index not in evidence.unusable and evidence.loads(index) < MOST]
    if not candidates:
        return None
    cost = np.array([1.0 if index in evidence.samples else 1.0 + question.build_cost for index in candidates])
    gain = information(change, candidates)
    best = int((gain / cost).argmax())
    candidate = candidates[best]
    return Measure((candidate,), evidence.loads(candidate) + 1, f"{gain[best] / math.log(2):.2f} bit expected")


# The place of the change

NOISE = 0.02  # of a load, before anything was measured
WEIGHT = 2.0  # degrees of freedom that the guess counts for
_STEPS = 101  # of the grid on which information is worked out
_REACH = 6.0  # standard deviations on both sides
_TINY = 1e-9


class ChangePoint(Struct, frozen=True, eq=False):
    """Estimates of the change; index 0 of each array means that candidate 1 is the first slower one."""

    probability: Array
    before: Array  # mean level, and how many figures
    after: Array
    figures_before: Array
    figures_after: Array
    noise: Array  # standard deviation of a load
    freedom: float

    def most_probable(self) -> int:
        return int(self.probability.argmax())

    @property
    def noise_of_load(self) -> float:
        return float(self.noise[self.most_probable()])


def change_point(count: int, samples: Samples) -> ChangePoint:
    """Estimate the change among `count` candidates, of which the first and the last have figures."""
    figures, sums, squares = np.zeros((3, count))
    for candidate, logs in samples.items():
        values = np.asarray(logs, float)
        figures[candidate], sums[candidate], squares[candidate] = values.size, values.sum(), (values**2).sum()
    before, sum_before = figures.cumsum()[:-1], sums.cumsum()[:-1]
    after, sum_after = figures.sum() - before, sums.sum() - sum_before
    scatter = np.maximum(squares.sum() - sum_before**2 / before - sum_after**2 / after, 0.0)
    freedom = WEIGHT + figures.sum() - 2
    deviation = (WEIGHT * NOISE**2 + scatter) / freedom
    weight = -0.5 * np.log(before * after) - freedom / 2 * np.log(deviation)
    chance = np.exp(weight - weight.max())
    levels = sum_before / before, sum_after / after
    return ChangePoint(chance / chance.sum(), *levels, before, after, np.sqrt(deviation), freedom)


def groups(change: ChangePoint, unusable: Collection[int]) -> list[tuple[int, int, float]]:
    """List (last good, first bad, probability); candidates between the two are unusable, so nothing separates them."""
    usable = [index for index in range(len(change.probability) + 1) if index not in unusable]
    return [(low, high, float(change.probability[low:high].sum())) for low, high in pairwise(usable)]


def information(change: ChangePoint, candidates: Sequence[int]) -> Array:
    """Estimate how much of the uncertainty (in nats) one more load of each candidate takes away."""
    is_likely = change.probability > _TINY
    chance = (change.probability[is_likely] / change.probability[is_likely].sum())[:, None]
    first_slower = np.flatnonzero(is_likely) + 1
    spacing, before, after = _predictive(change, is_likely)
    entropy_before, entropy_after = (_entropy(density, spacing) for density in (before, after))
    gains = []
    for candidate in candidates:
        is_before = candidate < first_slower
        mixture = (np.where(is_before[:, None], before, after) * chance).sum(0)
        remaining = (np.where(is_before, entropy_before, entropy_after) * chance[:, 0]).sum()
        gains.append(float(_entropy(mixture[None], spacing)[0] - remaining))
    positive: Array = np.maximum(np.array(gains), 0.0)
    return positive


def _predictive(change: ChangePoint, is_likely: NDArray[np.bool_]) -> tuple[float, Array, Array]:
    """Predict the next figure on either side: spacing of the grid, and densities, a row for each likely change."""
    noise = change.noise[is_likely]
    sides = [
        (change.before[is_likely], noise * np.sqrt(1 + 1 / change.figures_before[is_likely])),
        (change.after[is_likely], noise * np.sqrt(1 + 1 / change.figures_after[is_likely])),
    ]
    low = min(float((level - _REACH * spread).min()) for level, spread in sides)
    high = max(float((level + _REACH * spread).max()) for level, spread in sides)
    grid = np.linspace(low, high, _STEPS)
    spacing = float(grid[1] - grid[0])
    densities = []
    for level, spread in sides:  # of Student's t; normalised on the grid, so that no factor is needed
        distance = (grid[None, :] - level[:, None]) / spread[:, None]
        density = (1 + distance**2 / change.freedom) ** (-(change.freedom + 1) / 2)
        densities.append(density / (density.sum(1, keepdims=True) * spacing))
    return spacing, densities[0], densities[1]


def _entropy(density: Array, spacing: float) -> Array:
    entropy: Array = -(density * np.log(density + 1e-300)).sum(-1) * spacing
    return entropy


# The cost of a search, tried on made-up figures before anything is measured

TRIALS = 40
_SEED = 1
_MOST_TRIALS = 0.95  # share of the trials that need no more


class Forecast(Struct, frozen=True):
    builds: int
    most_builds: int
    loads: int
    most_loads: int


def forecast(question: Question, noise: float = NOISE) -> Forecast:
    """Search for changes as large as the one that is looked for, anywhere."""
    dice = np.random.default_rng(_SEED)
    trials = [_trial(question, noise, int(dice.integers(1, question.count)), dice) for _ in range(TRIALS)]
    limit = int(_MOST_TRIALS * (TRIALS - 1))
    builds, loads = (sorted(counts) for counts in zip(*trials, strict=True))
    return Forecast(round(median(builds)), builds[limit], round(median(loads)), loads[limit])


def _trial(question: Question, noise: float, change: int, dice: np.random.Generator) -> tuple[int, int]:
    """Count the builds and loads of one search."""
    samples: dict[int, tuple[float, ...]] = {}
    middle = question.threshold or 0.0
    levels = middle + question.smallest / 2, middle - question.smallest / 2
    while isinstance(step := next_step(question, Evidence(samples)), Measure):
        for index in step.candidates:
            figures = samples.get(index, ())
            drawn = dice.normal(levels[index >= change], noise, max(step.loads - len(figures), 0))
            samples[index] = (*figures, *map(float, drawn))
    return len(samples), sum(map(len, samples.values()))
