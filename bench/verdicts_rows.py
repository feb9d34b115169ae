"""How often simultaneous intervals are wrong, and what they find: reports of eight steps, made up as logarithms.

Each table has `arms` against a base. Widths of intervals do not depend on ratios: the intervals of equal arms, moved by
a true difference, are those of arms that differ by it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from stepgrid.model.plan import ALPHA
from stepgrid.summarize.statistics.confidence_intervals import (
    LogRatios,
    Spreads,
    holm_limit,
    moved,
    reaches,
    sample,
    spreads_of,
    table_intervals,
)
from stepgrid.summarize.statistics.confidence_intervals import chance as chance_of
from stepgrid.summarize.statistics.verdicts import FASTER, SLOWER, verdict

Array = NDArray[np.float64]
Generator = np.random.Generator
Figures = Callable[[Generator, int, int], Array]  # arms, loads -> logarithms by step, arm and load, of noise 1

STEPS, NOISE, EFFECT, DIFFERENCE = 8, 0.01, math.log1p(0.02), math.log1p(0.05)
FAR = 1.3  # a difference that reports of much noise may find
SEED, RUNS = 20262, 3
SIZES = ((3, 1), (3, 4), (5, 1), (5, 4))  # loads, arms
LARGE = ((2, 1), (2, 4), (10, 1), (10, 4), (3, 12), (3, 40), (5, 40))


class Row(NamedTuple):
    """Shares of tables, but for the last two: of comparisons."""

    different: float  # of equal arms
    beyond: float  # called different, of arms whose difference is the smallest effect
    covered: float  # all ratios of the table
    same: float  # of equal arms
    found: float  # a difference of 5 %

    def __str__(self) -> str:
        names = ("different", "2 % apart", "covered", "same", "5 % found")
        return ", ".join(f"{name} {share:.1%}" for name, share in zip(names, self, strict=True))


class Family(NamedTuple):
    """What is judged together: the noise of the comparisons that show one (their indices), mean and loads of all."""

    spreads: Spreads | None
    shown: NDArray[np.intp]
    means: Array
    loads: Array


def _normal(chance: Generator, arms: int, loads: int) -> Array:
    return chance.normal(size=(STEPS, arms + 1, loads))


def _blocks(chance: Generator, arms: int, loads: int) -> Array:
    return _normal(chance, arms, loads) + 5 * chance.normal(size=(STEPS, 1, loads))


def _heavy(chance: Generator, arms: int, loads: int) -> Array:
    return chance.standard_t(2.5, (STEPS, arms + 1, loads)) * math.sqrt(0.5 / 2.5)


def _noisy_arm(chance: Generator, arms: int, loads: int) -> Array:
    return _normal(chance, arms, loads) * np.where(np.arange(arms + 1) == arms, 10, 1)[:, None]


def _noisy_base(chance: Generator, arms: int, loads: int) -> Array:
    return _normal(chance, arms, loads) * np.where(np.arange(arms + 1) == 0, 10, 1)[:, None]


def _odd(chance: Generator, arms: int, loads: int) -> Array:
    figures = _normal(chance, arms, loads)
    return figures + np.where(chance.random(figures.shape) < 0.1, math.log(0.8) / NOISE, 0)


def _steps(chance: Generator, arms: int, loads: int) -> Array:
    figures = _normal(chance, arms, loads) * np.exp(0.7 * chance.normal(size=(STEPS, 1, 1)))
    return figures + 2 * chance.normal(size=(STEPS, 1, loads))


def _arms(chance: Generator, arms: int, loads: int) -> Array:
    return _normal(chance, arms, loads) * np.exp(0.7 * chance.normal(size=(STEPS, arms + 1, 1)))


def _common(share: float) -> Figures:
    def figures(chance: Generator, arms: int, loads: int) -> Array:
        common = chance.normal(size=(1, arms + 1, loads))
        return math.sqrt(share) * common + math.sqrt(1 - share) * _normal(chance, arms, loads)

    return figures


def _places(chance: Generator, arms: int, loads: int) -> NDArray[np.intp]:
    """Of each measurement in its step: randomized blocks."""
    order = chance.permuted(np.tile(np.arange(arms + 1), (STEPS, loads, 1)), axis=-1)
    places: NDArray[np.intp] = (np.arange(loads)[:, None] * (arms + 1) + order).swapaxes(1, 2)
    return places


def _drift(chance: Generator, arms: int, loads: int) -> Array:
    """Half of the variance is a trend over the whole step."""
    trend = (_places(chance, arms, loads) / ((arms + 1) * loads - 1) - 0.5) * math.sqrt(12) * chance.choice([-1, 1])
    figures: Array = math.sqrt(0.5) * (_normal(chance, arms, loads) + trend)
    return figures


def _dependent(chance: Generator, arms: int, loads: int) -> Array:
    """Each measurement depends by 0.6 on the one before it."""
    early, places = 20, _places(chance, arms, loads)
    fresh = chance.normal(size=(STEPS, (arms + 1) * loads + early))
    course = lfilter([0.8], [1, -0.6], fresh)[:, early:]
    figures: Array = np.take_along_axis(course, places.reshape(STEPS, -1), -1).reshape(places.shape)
    return figures


def _missing(chance: Generator, arms: int, loads: int) -> Array:
    figures = _normal(chance, arms, loads)
    return np.where(chance.random(figures.shape) < 1 / 6, np.nan, figures)


def _runs(chance: Generator, arms: int, loads: int) -> Array:
    """Three runs a load, of which one in five is missing; half of the variance of their mean is theirs."""
    shape = (STEPS, arms + 1, loads)
    runs = chance.normal(size=(*shape, 1)) + math.sqrt(RUNS) * chance.normal(size=(*shape, RUNS))
    return np.where(chance.random(runs.shape) < 0.2, np.nan, runs) / math.sqrt(2)


KINDS: Mapping[str, Figures] = {
    "normal": _normal,
    "blocks 5 % apart": _blocks,
    "heavy tails (t, 2.5)": _heavy,
    "one arm 10 x noisier": _noisy_arm,
    "base 10 x noisier": _noisy_base,
    "one odd load in ten": _odd,
    "steps differ in noise": _steps,
    "arms differ in noise": _arms,
    "steps share half of it": _common(0.5),
    "steps share 9 tenths": _common(0.9),
    "drift": _drift,
    "autocorrelation 0.6": _dependent,
    "one load in six missing": _missing,
    "runs, some missing": _runs,
}
ALONE: Mapping[str, Figures] = {"one step": _normal, "one step, one arm noisier": _noisy_arm}  # reports of one


def settings() -> Iterator[tuple[str, int, int]]:
    """List kind, loads and arms of each row."""
    sizes = {**dict.fromkeys((*KINDS, *ALONE), SIZES), "normal": (*SIZES, *LARGE)}
    for kind in ("one arm 10 x noisier", "steps differ in noise", "arms differ in noise"):
        sizes[kind] = (*SIZES, *LARGE)
    sizes["one step, one arm noisier"] = ((3, 2), (3, 3), (3, 4), (5, 2), (5, 4))
    yield from ((kind, loads, arms) for kind, every in sizes.items() for loads, arms in every)


def rows(tables: int) -> Iterator[str]:
    for kind, loads, arms in settings():
        yield f"{kind:24} {loads:2} loads, {arms:2} arms: {row(kind, loads, arms, tables)}"


def by_report(reports: int) -> Iterator[str]:
    """Yield how many reports call an equal arm different, by their tables and among all comparisons."""
    for kind, noise, (loads, arms) in product(("normal", "base 10 x noisier"), (0.03, 0.1), SIZES):
        chance = np.random.default_rng(SEED)
        made = (KINDS[kind](chance, arms, loads) * noise for _ in range(reports))
        shares = np.array([_shares_of_report(figures) for figures in made]).mean(axis=0)
        name = f"{kind}, {noise:.0%}, {loads} loads, {arms} arms"
        wrong, found = (f"{shares[at]:.1%}, certain {shares[at + 1]:.1%}" for at in (0, 2))
        yield f"{name:40}: by tables {wrong}; 30 % found {found}"


def _shares_of_report(figures: Array) -> tuple[float, float, float, float]:
    intervals = [each for table in table_intervals([_samples(table) for table in figures]) for each in table if each]
    equal, apart = intervals, [moved(each, each.ratio * FAR) for each in intervals]
    shares = []
    for judged in (equal, apart):
        words = [verdict(each.low, each.high, math.expm1(EFFECT)) in (FASTER, SLOWER) for each in judged]
        chances = [chance_of(each, math.expm1(EFFECT)) or 0.0 for each in judged]
        limit = holm_limit(chances, ALPHA)
        certain = [word and value <= limit for word, value in zip(words, chances, strict=True)]
        shares.append((words, certain))
    (wrong, surely_wrong), (found, surely_found) = shares
    return float(any(wrong)), float(any(surely_wrong)), float(np.mean(found)), float(np.mean(surely_found))


def row(kind: str, loads: int, arms: int, tables: int) -> Row:
    return mean_row(shares(reports(kind, loads, arms, tables), arms))


def mean_row(shares_of_reports: Array) -> Row:
    return Row(*shares_of_reports.mean(axis=0).tolist())


def reports(kind: str, loads: int, arms: int, tables: int) -> list[list[Family]]:
    """Make up reports of eight steps, and return what is judged together in each."""
    chance = np.random.default_rng(SEED)
    made = ({**KINDS, **ALONE}[kind](chance, arms, loads) * NOISE for _ in range(tables // STEPS))
    tables_of = ([_samples(table) for table in figures] for figures in made)
    return [[_family([table]) for table in each] if kind in ALONE else [_family(each)] for each in tables_of]


def _family(tables: Sequence[Sequence[LogRatios]]) -> Family:
    numbered = [(at, sample) for at, samples in enumerate(tables) for sample in samples]
    shown = [index for index, (_, sample) in enumerate(numbered) if sample.freedom]
    means, loads = np.zeros(len(numbered)), np.ones(len(numbered))
    for index in shown:
        means[index], loads[index] = numbered[index][1].mean, len(numbered[index][1].logs)
    return Family(spreads_of([numbered[index] for index in shown]) if shown else None, np.array(shown), means, loads)


def shares(reports: Sequence[Sequence[Family]], arms: int) -> Array:
    """Return the figures of a Row, of each report."""
    return np.array([_shares(np.concatenate([_ends(each) for each in families]), arms) for families in reports])


def _ends(family: Family) -> Array:
    """A comparison without an interval says nothing."""
    reach = np.full(len(family.means), math.inf)
    if family.spreads:
        noise, critical = reaches(family.spreads, ALPHA)
        reach[family.shown] = critical * np.sqrt(noise.variance / family.loads[family.shown])
    return np.column_stack([family.means - reach, family.means + reach])


def _shares(ends: Array, arms: int) -> tuple[float, ...]:
    low, high = ends.reshape(-1, arms, 2).transpose(2, 0, 1)
    covered = ((low <= 0) & (high >= 0)).all(axis=1).mean()
    same = ((low > -EFFECT) & (high < EFFECT)).mean()
    different, beyond = ((low + apart > EFFECT) | (high + apart < -EFFECT) for apart in (0.0, EFFECT))
    found = (low + DIFFERENCE > EFFECT).mean()
    return (
        *(float(wrong.any(axis=1).mean()) for wrong in (different, beyond)),
        float(covered),
        float(same),
        float(found),
    )


def _samples(table: Array) -> Sequence[LogRatios]:
    base, *arms = [_values(arm) for arm in table]
    return [sample(arm, base, "base") for arm in arms]


def _values(arm: Array) -> Mapping[int, Sequence[float]]:
    runs = np.exp(arm.reshape(len(arm), -1)).tolist()
    return {load: [value for value in values if not math.isnan(value)] for load, values in enumerate(runs)}
