"""What each axis of a design or a large grid does: effects, interactions that it can tell, and shares of the variance.

A load is the unit: least squares of the logarithms over the cells of each load give its effects, and intervals come
from how these differ between loads. What is confounded is in no interval: an effect that the cells cannot tell apart
from all others is not there, and a pair that moves with another one is not said to interact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from stepgrid.model import units
from stepgrid.model.plan import PlannedAxis, PlannedDesign
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.model.units import counted, percent
from stepgrid.summarize.comparisons.comparison import ComparedMetric, ratio_text
from stepgrid.summarize.comparisons.judgement import verdict_of
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import GridAnswer, GridEvidence
from stepgrid.summarize.statistics import confidence_intervals
from stepgrid.summarize.statistics.confidence_intervals import Interval, LogRatios, log_mean, special
from stepgrid.summarize.statistics.verdicts import BUSY, DIFFERENCES, ONE_LOAD
from stepgrid_investigate.arms import Arms, comparable_arms

LARGE, FEWEST_AXES = 64, 3  # cells and axes of a whole grid from which this is said
MOST_TERMS = 600  # columns of the model with all pairs; of more axes pairs are left out
MOST_NAMED, MOST_ROWS = 4, 24
TINY = 1e-6
LITTLE, UNEXPLAINED = 0.02, 0.1  # shares: below which an axis may be fixed; of pairs and the rest, that is named

Array = NDArray[np.float64]
Level = tuple[str, str]  # axis and label


class OptionEffect(Struct, frozen=True):
    """A ratio to the base of one axis, the mean over all others; of two axes, a ratio of ratios."""

    levels: tuple[Level, ...]
    base: str
    logs: Mapping[int, float]  # of each load
    interval: Interval | None = None

    @property
    def name(self) -> str:
        return ", ".join(f"{axis}={label}" for axis, label in self.levels)

    @property
    def ratio(self) -> float:
        return math.exp(math.fsum(self.logs.values()) / len(self.logs))


class Importance(Struct, frozen=True):
    name: str
    share: float
    interval: tuple[float, float] | None
    may_be_fixed: bool = False  # neither alone nor with another option nor, for all that is known, otherwise


class Effects(Struct, frozen=True):
    main: tuple[OptionEffect, ...]
    pairs: tuple[OptionEffect, ...]
    importance: tuple[Importance, ...]
    confounded: tuple[str, ...] = ()  # pairs of axes that the cells do not tell apart from other effects
    inseparable: tuple[str, ...] = ()  # axes that they do not tell apart; without their shares others have none


def effects(evidence: GridEvidence) -> Iterator[GridAnswer]:
    for section in evidence.sections:
        metric = evidence.setup.metric
        if evidence.plan.design is None and len(section.points) < LARGE:
            continue
        arms = comparable_arms(evidence, section, [metric.name])
        axes = [axis for axis in section.axes if len({p.labels.get(axis.name) for p in arms.points.values()}) > 1]
        if len(axes) >= (2 if evidence.plan.design else FEWEST_AXES):
            fitted = fit_effects(
                list(arms.points.values()), axes, evidence.setup.base, metric.name, evidence.setup.alpha
            )
            is_sure = any(one.interval for one in fitted.importance)
            if (fitted.main or fitted.inseparable) and (evidence.plan.design or is_sure):
                yield EffectWords(evidence.setup.effect, metric, arms).answer(
                    section.step, fitted, evidence.plan.design
                )


def fit_effects(
    points: Sequence[Point], axes: Sequence[PlannedAxis], base: Mapping[str, str], metric: str, alpha: float
) -> Effects:
    model = _Model(points, axes, base)
    loads = sorted({load for point in points for load in point.values(metric)})
    values = np.full((len(points), len(loads)), np.nan)
    for row, point in enumerate(points):
        for load, runs in point.values(metric).items():
            values[row, loads.index(load)] = log_mean(runs)
    complete = [at for at in range(len(loads)) if not np.isnan(values[:, at]).any()]
    if not complete:  # loads that lack a cell tell other effects
        return Effects((), (), ())
    numbers, logs = [loads[at] for at in complete], values[:, complete]
    main = _with_intervals(model.main_effects(logs, numbers), alpha)
    pairs = _with_intervals(model.interactions(logs, numbers), alpha)
    return Effects(main, pairs, model.importance(logs), tuple(model.confounded), tuple(model.inseparable))


def _with_intervals(estimates: Sequence[OptionEffect], alpha: float) -> tuple[OptionEffect, ...]:
    """Intervals hold together: those of one axis share its base, and all help each other to know the noise."""
    samples = [
        LogRatios(tuple(effect.logs.values()), tuple(axis for axis, _ in effect.levels), tuple(effect.logs))
        for effect in estimates
    ]
    intervals = confidence_intervals.intervals(samples, alpha)
    return tuple(
        OptionEffect(effect.levels, effect.base, effect.logs, interval)
        for effect, interval in zip(estimates, intervals, strict=True)
    )


class _Model:
    """Columns of an additive model, each axis coded around its mean, and products of two axes where they are told."""

    def __init__(self, points: Sequence[Point], axes: Sequence[PlannedAxis], base: Mapping[str, str]) -> None:
        present = {axis.name: {point.labels.get(axis.name) for point in points} for axis in axes}
        self.labels = {axis.name: [label for label in axis.labels if label in present[axis.name]] for axis in axes}
        self.base = {
            name: base[name] if base.get(name) in labels else labels[0] for name, labels in self.labels.items()
        }
        self.codes = {name: _centred(len(labels)) for name, labels in self.labels.items()}
        rows = {name: [labels.index(point.labels[name]) for point in points] for name, labels in self.labels.items()}
        self.blocks: dict[tuple[str, ...], Array] = {(name,): self.codes[name][rows[name]] for name in self.labels}
        self.names = [*self.labels]
        one = np.ones((len(points), 1))
        self.plain = np.hstack([one, *(self.blocks[name,] for name in self.names)])
        pairs = [*combinations(self.names, 2)]
        products = {pair: _products(self.blocks[pair[:1]], self.blocks[pair[1:]]) for pair in pairs}
        width = self.plain.shape[1] + sum(block.shape[1] for block in products.values())
        self.estimable: list[tuple[str, str]] = []
        if width <= MOST_TERMS:
            full = np.hstack([self.plain, *products.values()])
            rank = _rank(full)
            for pair in pairs:
                without = np.hstack([self.plain, *(block for other, block in products.items() if other != pair)])
                if _rank(without) + products[pair].shape[1] == rank:
                    self.estimable.append(pair)
        self.confounded = [f"{one} × {other}" for one, other in pairs if (one, other) not in self.estimable]
        self.blocks |= {pair: products[pair] for pair in self.estimable}
        self.matrix = np.hstack([self.plain, *(products[pair] for pair in self.estimable)])
        self.inverse = np.linalg.pinv(self.matrix, rcond=TINY)
        self.projection = self.inverse @ self.matrix  # what of the coefficients the cells tell
        ends = np.cumsum([1, *(self.blocks[key].shape[1] for key in self._keys())])
        self.places = {key: slice(int(ends[at]), int(ends[at + 1])) for at, key in enumerate(self._keys())}
        units_of_axes = np.eye(self.matrix.shape[1])
        self.inseparable = [n for n in self.names if not self._is_estimable(units_of_axes[self.places[n,]])]

    def _keys(self) -> list[tuple[str, ...]]:
        return [*((name,) for name in self.names), *self.estimable]

    def _is_estimable(self, contrast: Array) -> bool:
        return bool(np.abs(contrast @ self.projection - contrast).max(initial=0) < 1e-6)

    def main_effects(self, logs: Array, loads: Sequence[int]) -> list[OptionEffect]:
        estimates = []
        for name, labels in self.labels.items():
            base = labels.index(self.base[name])
            for at, label in enumerate(labels):
                contrast = np.zeros(self.matrix.shape[1])
                contrast[self.places[name,]] = self.codes[name][at] - self.codes[name][base]
                if at != base and self._is_estimable(contrast):
                    values = contrast @ self.inverse @ logs
                    by_load = dict(zip(loads, values.tolist(), strict=True))
                    estimates.append(OptionEffect(((name, label),), f"{name}={self.base[name]}", by_load))
        return estimates

    def interactions(self, logs: Array, loads: Sequence[int]) -> list[OptionEffect]:
        estimates = []
        for one, other in self.estimable:
            steps = [self._steps(name) for name in (one, other)]
            for label, code in steps[0]:
                for second, second_code in steps[1]:
                    contrast = np.zeros(self.matrix.shape[1])
                    contrast[self.places[one, other]] = np.kron(code, second_code)
                    values = contrast @ self.inverse @ logs
                    by_load = dict(zip(loads, values.tolist(), strict=True))
                    estimates.append(OptionEffect(((one, label), (other, second)), f"{one}={self.base[one]}", by_load))
        return estimates

    def _steps(self, name: str) -> list[tuple[str, Array]]:
        base = self.labels[name].index(self.base[name])
        codes = self.codes[name]
        return [(label, codes[at] - codes[base]) for at, label in enumerate(self.labels[name]) if at != base]

    def importance(self, logs: Array) -> tuple[Importance, ...]:
        """Share the variance over the whole grid: of axes, of pairs together, and what no term of the model says.

        A square of what two loads agree upon has no noise in it; leaving out a load each gives the interval."""
        parts = {} if self.inseparable else self._parts(logs)
        count, shares, spread = logs.shape[1], _shares(parts), {}
        if count > 2:
            without = [_shares({k: np.delete(part, at, axis=1) for k, part in parts.items()}) for at in range(count)]
            reach = special("stdtrit", count - 1, 0.975)
            for key, share in shares.items():
                values = np.array([one.get(key, share) for one in without])
                error = math.sqrt((count - 1) / count * ((values - values.mean()) ** 2).sum())
                spread[key] = max(share - reach * error, 0.0), min(max(share, 0.0) + reach * error, 1.0)
        ordered = sorted(shares.items(), key=lambda item: (item[0].name in (PAIRS, REST), -item[1]))
        return tuple(
            Importance(
                key.name,
                max(share, 0.0),
                spread.get(key),
                not self.confounded and spread.get(ShareKey(key.name, True), (0, 1))[1] < LITTLE,
            )
            for key, share in ordered
            if not key.in_all
        )

    def _parts(self, logs: Array) -> dict[tuple[str, ...], Array]:
        """Values over the levels of each term, so scaled that their squares add up to the variance; a column a load."""
        coefficients = self.inverse @ logs
        parts: dict[tuple[str, ...], Array] = {}
        for key in self._keys():
            codes = self.codes[key[0]] if len(key) == 1 else np.kron(self.codes[key[0]], self.codes[key[1]])
            parts[key] = codes @ coefficients[self.places[key]] / math.sqrt(len(codes))
        freedom = len(logs) - round(float(np.trace(self.projection)))
        if freedom > 0:
            residuals: Array = logs - self.matrix @ coefficients
            parts[()] = residuals / math.sqrt(freedom)
        return parts


PAIRS, REST = "pairs of options", "what the model leaves"


class ShareKey(NamedTuple):
    name: str
    in_all: bool = False  # of an axis: with its pairs, and what the model leaves


def _shares(parts: Mapping[tuple[str, ...], Array]) -> dict[ShareKey, float]:
    squares: dict[ShareKey, float] = {}
    for axes, part in parts.items():
        count = part.shape[1]
        total, single = float((part.mean(axis=1) ** 2).sum()), float((part**2).sum()) / count
        square = (count * total - single) / (count - 1) if count > 1 else total
        term = ShareKey(REST if not axes else PAIRS if len(axes) > 1 else axes[0])
        for key in (term, *(ShareKey(name, True) for name in axes or (key[0] for key in parts if len(key) == 1))):
            squares[key] = squares.get(key, 0.0) + square
    total_square = sum(max(square, 0.0) for key, square in squares.items() if not key.in_all)
    return {key: square / total_square for key, square in squares.items()} if total_square > 0 else {}


def _centred(count: int) -> Array:
    """Code so many levels by one column less; the codes of all levels add up to 0."""
    return np.vstack([np.eye(count - 1), -np.ones((1, count - 1))])


def _products(one: Array, other: Array) -> Array:
    product: Array = (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
    return product


def _rank(matrix: Array) -> int:
    return int(np.linalg.matrix_rank(matrix, tol=TINY * math.sqrt(matrix.size)))


# Words


class EffectWords(NamedTuple):
    effect: float
    metric: ComparedMetric
    arms: Arms

    def answer(self, step: str, fitted: Effects, design: PlannedDesign | None) -> GridAnswer:
        title = f"{step}: what each option does to {self.metric.title}"
        shares = _importance_words(fitted.importance, self.metric)
        if fitted.inseparable:
            axes = ", ".join(fitted.inseparable)
            shares = f"the cells do not tell apart {axes}, so no shares of the variance of {self.metric.title}"
        sentences = [f"{step}: {self.arms.caution}{shares}"]
        sure = [effect for effect in fitted.pairs if self.verdict(effect) in DIFFERENCES]
        if sure:
            far = sorted(sure, key=lambda effect: -abs(math.log(effect.ratio)))
            names = units.first([f"{effect.name} {_ratio(effect)}" for effect in far], MOST_NAMED)
            sentences.append(f"options work together: {'; '.join(names)} of what each does alone")
        if fitted.confounded:
            named = ", ".join(units.first(fitted.confounded, MOST_NAMED))
            sentences.append(f"effects hold if these pairs do not work together, which the cells cannot tell: {named}")
        sentences += [f"design {design.title}: {note}" for note in design.notes] if design else []
        tables = (
            _importance_table(f"{step}: shares of the variance of {self.metric.title}", fitted),
            self.table(f"{step}: {self.metric.title} by option", fitted.main),
            self.table(f"{step}: {self.metric.title} by two options together", sure[:MOST_ROWS]),
        )
        filled = tuple(table for table in tables if table.rows)
        return GridAnswer("effects", title, (*sentences, *self.arms.notes), filled)

    def verdict(self, effect: OptionEffect) -> str:
        if effect.interval is None:
            return ONE_LOAD
        return BUSY if self.arms.is_busy else verdict_of(effect.interval, self.effect, self.metric)

    def table(self, title: str, estimates: Sequence[OptionEffect]) -> Table:
        rows = []
        for effect in estimates:
            word, interval = self.verdict(effect), effect.interval
            ends = (interval.low, interval.high) if interval else None
            base = effect.base if len(effect.levels) == 1 else NOTHING
            rows.append((Cell(effect.name), Cell(base), Cell(_ratio(effect), "", effect.ratio, ends, word), Cell(word)))
        labels = (Column("option", label=True), Column("base", label=True))
        loads = counted(max((len(effect.logs) for effect in estimates), default=0), "load")
        together = "; all hold together (95 %)" if any(effect.interval for effect in estimates) else ""
        note = f"ratios of {self.metric.title}, means over the other options, of {loads}{together}"
        return Table(title, (*labels, Column("ratio"), Column("verdict", is_text=True)), tuple(rows), notes=(note,))


def _importance_words(importance: Sequence[Importance], metric: ComparedMetric) -> str:
    axes = [one for one in importance if one.name not in (PAIRS, REST)]
    large = [one for one in importance if one.share >= (UNEXPLAINED if one.name in (PAIRS, REST) else LITTLE)]
    little = [one for one in axes if one.interval and one.interval[1] < LITTLE]
    named = ", ".join(units.first([f"{one.name} {_share(one)}" for one in large], MOST_NAMED + 1))
    text = (
        f"of the variance of {metric.title}: {named}" if named else f"no option explains the variance of {metric.title}"
    )
    if not any(one.interval for one in importance):
        text += "; three loads would say how sure this is"
    for may_be_fixed, meaning in ((True, ", may be fixed in the next sweep"), (False, " by itself")):
        names = [one.name for one in little if one.may_be_fixed == may_be_fixed]
        if names:
            repeated = " each" * (len(names) > 1)
            text += f"; {', '.join(names)}: less than {percent(LITTLE)}{repeated}{meaning}"
    return text


def _share(one: Importance) -> str:
    ends = "" if one.interval is None else f" [{one.interval[0] * 100:.0f}, {one.interval[1] * 100:.0f}]"
    return f"{one.share * 100:.0f} %{ends}"


def _importance_table(title: str, fitted: Effects) -> Table:
    rows = tuple((Cell(one.name), Cell(_share(one), "", one.share, one.interval)) for one in fitted.importance)
    note = f"shares are of the whole grid{', if no options work together' * bool(fitted.confounded)}"
    if any(one.interval for one in fitted.importance):
        note = f"95 % intervals by leaving out a load each; {note}, without the noise of loads"
    return Table(title, (Column("option", label=True), Column("share of the variance")), rows, notes=(note,))


def _ratio(effect: OptionEffect) -> str:
    return ratio_text(effect.ratio, effect.interval, units.TIMES)
