"""One comparison of a claim, with its uncertainty: the load is the unit here, too.

In each load both sides are worked out from the figures of that load. `left >= right` says that left / right is at
least 1, so what counts is the interval of that ratio, as of any comparison: of `qps(a) / qps(b) >= 2.5` it is the
interval of the ratio of QPS, divided by 2.5. A ratio that a table of the report has keeps the interval of that table;
all others of a claim hold together. What is within the noise floor decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from statistics import fmean, stdev
from typing import NamedTuple

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import ALPHA
from stepgrid.plan.report_check import Comparison, Figure, evaluate, figures
from stepgrid.summarize.claims import single_load
from stepgrid.summarize.claims.claim_numbers import constant, means, numbers, ordered, words
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics import confidence_intervals
from stepgrid.summarize.statistics.confidence_intervals import Interval, Sample
from stepgrid.summarize.statistics.scipy_functions import special

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
FEW = "not enough repeats"

IntervalOf = Callable[[str, Point, Point], Interval | None]


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """What the report knows of two points beside their figures."""

    floor: Callable[[Point, Point], float | None] = lambda _, __: None
    interval: IntervalOf = lambda _, __, ___: None  # of the ratio of a metric
    alpha: float = ALPHA
    of_loads: Callable[[Callable[[int], bool]], IntervalOf] = lambda _: lambda _, __, ___: None

    def some(self, loads: Callable[[int], bool]) -> ClaimEvidence:
        """As if no other loads had been measured."""
        return replace(self, interval=self.of_loads(loads))


@dataclass(frozen=True, slots=True)
class Leaf:
    comparison: Comparison
    sides: tuple[tuple[float, float], ...]  # of each load
    lacking: str | None = None  # why there are none
    floor: float | None = None  # of the points that it compares
    only_qps: bool = False  # the floor is of QPS
    known: Interval | None = None  # of left / right, as a table of the report has it
    timed: bool = True  # one of its metrics follows the speed of the host
    held: bool = False  # by the rate that was asked for
    claimed: float | None = None  # where two figures of one metric are compared: what their ratio is claimed to be
    of: str = ""  # which figures, in words
    idle: tuple[str, ...] = ()  # of which figures of QPS a load did nothing


@dataclass(frozen=True, slots=True)
class Outcome:
    result: str
    said: str
    notes: tuple[str, ...] = ()


def leaf(
    comparison: Comparison,
    chosen: Mapping[Figure, Point],
    reason: Callable[[Point], str | None],
    beside: ClaimEvidence,
) -> Leaf:
    asked = ordered(comparison)
    wanted = dict.fromkeys((*figures(asked.lhs), *figures(asked.rhs)))
    for figure in wanted:
        if why := reason(chosen[figure]) or _without(chosen[figure], figure.metric):
            return Leaf(comparison, (), f"{_told(figure)}: {why}")
    values = {figure: chosen[figure].values(own_name(figure.metric)) for figure in wanted}
    common = sorted(set.intersection(*(set(found) for found in values.values()))) if values else [0]
    loads = [{each: _mean(values[each][load]) for each in wanted} for load in common]
    try:
        sides = tuple((evaluate(asked.lhs, load), evaluate(asked.rhs, load)) for load in loads)
    except (ArithmeticError, ValueError):
        return Leaf(comparison, (), "it has no value: a division by 0, or the like")
    if not sides:
        return Leaf(comparison, (), "no load has all of its figures")
    return _with_noise(Leaf(comparison, sides), {each: chosen[each] for each in wanted}, loads, beside)


def _with_noise(
    found: Leaf, chosen: Mapping[Figure, Point], loads: Sequence[Mapping[Figure, float]], beside: ClaimEvidence
) -> Leaf:
    """The highest floor of any two of its points; a claim about one point has none."""
    pairs = list(permutations({point.places: point for point in chosen.values()}.values(), 2))
    floors = [floor for pair in pairs if (floor := beside.floor(*pair)) is not None]
    metrics = {own_name(figure.metric) for figure in chosen}
    scaled = _scaled(found.comparison, chosen, loads) if len(metrics) == 1 else None
    known = _known(scaled, chosen, beside) if scaled and len(pairs) == 2 else None
    claimed = 1 / scaled.factor if scaled else None
    floor, timed = max(floors, default=None), single_load.timed(metrics)
    held = bool(loads) and all(map(single_load.held, loads))
    of = _compared(found.comparison, scaled) if scaled else ", ".join(map(_told, chosen))
    idle = tuple(
        f"{_told(figure)}: {point.idleness}"
        for figure, point in chosen.items()
        if own_name(figure.metric) == QPS and point.idle_loads
    )
    return Leaf(found.comparison, found.sides, None, floor, metrics == {QPS}, known, timed, held, claimed, of, idle)


def _compared(comparison: Comparison, scaled: Scaled) -> str:
    """qps, cache=lru / cache=hyper: as its ratio is printed, by the labels in which they differ."""
    sides = (scaled.under, scaled.over) if constant(ordered(comparison).lhs) else (scaled.over, scaled.under)
    common = set(scaled.over.labels) & set(scaled.under.labels)
    named = [words([each for each in side.labels if each not in common]) for side in sides]
    return f"{scaled.over.metric}, {' / '.join(name or 'all' for name in named)}"


class Scaled(NamedTuple):
    """left / right = factor * over / under"""

    over: Figure
    under: Figure
    factor: float
    ratio: float  # of the two figures: the geometric mean over the loads


def _scaled(
    comparison: Comparison, chosen: Mapping[Figure, Point], loads: Sequence[Mapping[Figure, float]]
) -> Scaled | None:
    """Where it is the ratio of its two figures, but for a constant factor: in each load, and of other figures, too."""
    if len(chosen) != 2 or any(value <= 0 for load in loads for value in load.values()):
        return None
    for over, under in permutations(chosen, 2):
        ratios = [load[over] / load[under] for load in loads]
        tried = [(load, ratio) for load, ratio in zip(loads, ratios, strict=True)]
        tried += [({**load, over: 2 * load[over]}, 2 * ratio) for load, ratio in tried]
        factors = [_quotient(comparison, load) / ratio for load, ratio in tried]
        if factors[0] > 0 and math.isclose(min(factors), max(factors), rel_tol=1e-9):
            return Scaled(over, under, factors[0], math.exp(fmean(map(math.log, ratios))))
    return None


def _quotient(comparison: Comparison, load: Mapping[Figure, float]) -> float:
    asked = ordered(comparison)
    left, right = evaluate(asked.lhs, load), evaluate(asked.rhs, load)
    return left / right if right else 0.0


def _known(scaled: Scaled, chosen: Mapping[Figure, Point], beside: ClaimEvidence) -> Interval | None:
    """Where a table has the ratio."""
    interval = beside.interval(own_name(scaled.over.metric), chosen[scaled.over], chosen[scaled.under])
    return confidence_intervals.moved(interval, interval.ratio * scaled.factor) if interval else None


def own_name(metric: str) -> str:
    """A published name stands for our own."""
    from stepgrid.plugins import metrics

    return metrics.metric_name(metric) or metric


def _without(point: Point, metric: str) -> str | None:
    return None if point.values(own_name(metric)) else f"{point.step} has no such figure"


def _told(figure: Figure) -> str:
    return f"{figure.metric}({', '.join(f'{axis}={said!r}' for axis, said in figure.labels)})"


def _mean(runs: Sequence[float]) -> float:
    """Of the runs of a load: as for ratios, where they have logarithms."""
    if all(value > 0 for value in runs):
        return math.exp(fmean(map(math.log, runs)))
    return fmean(runs)


def decided(leaves: Sequence[Leaf], alpha: float = ALPHA) -> dict[int, Outcome]:
    """By the identity of the leaf."""
    samples = {id(each): sample for each in leaves if (sample := _sample(each))}
    found = dict(zip(samples, confidence_intervals.intervals(list(samples.values()), alpha), strict=True))
    return {id(each): _outcome(each, samples.get(id(each)), found.get(id(each))) for each in leaves}


def _sample(each: Leaf) -> Sample | None:
    """Logarithms of left / right, where an order is asked for and they have one."""
    if each.comparison.sign in ("==", "!=") or not each.sides:
        return None
    if any(not (side > 0 and math.isfinite(side)) for pair in each.sides for side in pair):
        return None
    return Sample(tuple(math.log(left / right) for left, right in each.sides))


def _outcome(each: Leaf, sample: Sample | None, interval: Interval | None) -> Outcome:
    if each.lacking is not None:
        return Outcome(UNDECIDED, each.lacking)
    if sample is None:
        return _load_by_load(each)
    known = each.known or interval
    if known is None:
        return _one_load(each, math.exp(sample.mean))
    result, floor = _by_interval(each.comparison.sign, known), each.floor if each.only_qps else None
    if floor is not None and result != UNDECIDED and abs(math.log(known.ratio)) <= math.log1p(floor):
        return Outcome(UNDECIDED, _numbers(each, known), (f"within the noise floor ({units.percent(floor)})",))
    return Outcome(result, _numbers(each, known), _few(result))


def _one_load(each: Leaf, ratio: float) -> Outcome:
    within, why = single_load.HELD if each.held else single_load.reach(each.floor, each.timed)
    result = _by_interval(each.comparison.sign, Interval(ratio, ratio / (1 + within), ratio * (1 + within), 1))
    said = _numbers(each, Interval(ratio, ratio, ratio, 1), alone=True)
    return Outcome(result, said, (f"one load, {why}", *_few(result)))


def _few(result: str) -> tuple[str, ...]:
    return (FEW,) if result == UNDECIDED else ()


def _by_interval(sign: str, found: Interval) -> str:
    """Above or below 1 as a whole; what contains 1 leaves it open."""
    if sign.startswith("<"):
        found = Interval(1 / found.ratio, 1 / found.high, 1 / found.low, found.loads)
    above, below = (found.low > 1, found.high <= 1) if sign in (">", "<") else (found.low >= 1, found.high < 1)
    return HOLDS if above else FAILS if below else UNDECIDED


def _load_by_load(each: Leaf) -> Outcome:
    """Zeros, and what must be equal: each load decides for itself, and they must agree."""
    sign = each.comparison.sign
    varies = sign not in ("==", "!=") and not (constant(each.comparison.lhs) or constant(each.comparison.rhs))
    if varies and (not each.idle or len(each.sides) < 2):  # a mean hides a load that did nothing
        return _by_difference(each)
    tests = {**_ORDERS, "==": float.__eq__, "!=": float.__ne__}
    found = [tests[sign](float(left), float(right)) for left, right in each.sides]
    holding = sum(found)
    result = HOLDS if holding == len(found) else FAILS if not holding else UNDECIDED
    of = f" in {holding} of {len(found)} loads" if result == UNDECIDED else ""
    return Outcome(result, f"{means(each.comparison, each.sides)}{of}", each.idle)


_ORDERS = {">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__}


def _by_difference(each: Leaf) -> Outcome:
    """Two sides that vary, of which one has no logarithm: Student's t of their differences, 95 %."""
    loads = [left - right for left, right in each.sides]
    if len(loads) < 2:
        return Outcome(UNDECIDED, means(each.comparison, each.sides), ("one load", FEW, *each.idle))
    half = special("stdtrit", len(loads) - 1, 0.975) * stdev(loads) / math.sqrt(len(loads))
    found = {_ORDERS[each.comparison.sign](end, 0.0) for end in (fmean(loads) - half, fmean(loads) + half)}
    result = UNDECIDED if len(found) > 1 else HOLDS if found.pop() else FAILS
    return Outcome(result, means(each.comparison, each.sides), _few(result))


def _numbers(each: Leaf, found: Interval, alone: bool = False) -> str:
    return numbers(each.comparison, each.sides, each.claimed, found, alone)
