"""One comparison of a claim, with its uncertainty: the load is the unit here, too.

In each load both sides are worked out from the figures of that load. `left >= right` says that left / right is at
least 1, so what counts is the interval of that ratio, as of any comparison: of `qps(a) / qps(b) >= 2.5` it is the
interval of the ratio of QPS, divided by 2.5. All intervals of a claim hold together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from compiler.plan.assertion import Comparison, Figure, Value, calculated, figures
from compiler.summarize import numbers, statistics
from compiler.summarize.points import Point
from compiler.summarize.statistics import Interval, Sample

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
FEW = "not enough repeats"
ONE_LOAD = 1.25  # a single load is taken for within a quarter of what many would say: it decides what is farther off
WIDEST = 1000.0  # ends of an interval that are further apart say nothing


@dataclass(frozen=True, slots=True)
class Leaf:
    comparison: Comparison
    sides: tuple[tuple[float, float], ...]  # of each load
    lacking: str | None = None  # why there are none


@dataclass(frozen=True, slots=True)
class Outcome:
    result: str
    said: str


def leaf(comparison: Comparison, chosen: Mapping[Figure, Point], reason: Callable[[Point], str | None]) -> Leaf:
    wanted = dict.fromkeys((*figures(comparison.left), *figures(comparison.right)))
    for figure in wanted:
        if why := reason(chosen[figure]) or _without(chosen[figure], figure.metric):
            return Leaf(comparison, (), f"{_told(figure)}: {why}")
    values = {figure: chosen[figure].values(own_name(figure.metric)) for figure in wanted}
    common = sorted(set.intersection(*(set(found) for found in values.values()))) if values else [0]
    try:
        sides = [_sides(comparison, {each: _mean(values[each][load]) for each in wanted}) for load in common]
    except (ArithmeticError, ValueError):
        return Leaf(comparison, (), "it has no value: a division by 0, or the like")
    return Leaf(comparison, tuple(sides), None if sides else "no load has all of its figures")


def own_name(metric: str) -> str:
    """A published name stands for our own."""
    from compiler.collect import metrics

    return metrics.own_name(metric) or metric


def _without(point: Point, metric: str) -> str | None:
    return None if point.values(own_name(metric)) else f"{point.step} has no such figure"


def _told(figure: Figure) -> str:
    return f"{figure.metric}({', '.join(f'{axis}={said!r}' for axis, said in figure.labels)})"


def _mean(runs: Sequence[float]) -> float:
    """Of the runs of a load: as for ratios, where they have logarithms."""
    if all(value > 0 for value in runs):
        return math.exp(fmean(map(math.log, runs)))
    return fmean(runs)


def _sides(comparison: Comparison, known: Mapping[Figure, float]) -> tuple[float, float]:
    return calculated(comparison.left, known), calculated(comparison.right, known)


def decided(leaves: Sequence[Leaf]) -> dict[int, Outcome]:
    """By the identity of the leaf."""
    samples = {id(each): sample for each in leaves if (sample := _sample(each))}
    found = dict(zip(samples, statistics.intervals(list(samples.values())), strict=True))
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
    ratio = math.exp(sample.mean)
    known = interval or _quarter(ratio)
    result = _by_interval(each.comparison.sign, known)
    alike = _each_load(each.comparison.sign, sample) if interval and result == UNDECIDED else UNDECIDED
    more = "" if interval else ", one load, taken for within 25 %"
    if alike != UNDECIDED:
        more = ", and every load says so by more than a quarter"
    few = f"; {FEW}" if result == alike == UNDECIDED else ""
    return Outcome(result if alike == UNDECIDED else alike, f"{_numbers(each, known)}{more}{few}")


def _quarter(ratio: float) -> Interval:
    return Interval(ratio, ratio / ONE_LOAD, ratio * ONE_LOAD, 1)


def _each_load(sign: str, sample: Sample) -> str:
    """Of two or three loads the interval is wide: what each of them by itself would decide is decided."""
    found = {_by_interval(sign, _quarter(math.exp(log))) for log in sample.logs}
    return found.pop() if len(found) == 1 else UNDECIDED


def _by_interval(sign: str, found: Interval) -> str:
    """Above or below 1 as a whole; what contains 1 leaves it open."""
    if sign.startswith("<"):
        found = Interval(1 / found.ratio, 1 / found.high, 1 / found.low, found.loads)
    above, below = (found.low > 1, found.high <= 1) if sign in (">", "<") else (found.low >= 1, found.high < 1)
    return HOLDS if above else FAILS if below else UNDECIDED


def _load_by_load(each: Leaf) -> Outcome:
    """Zeros, and what must be equal: each load decides for itself, and they must agree."""
    signs = {">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__}
    tests = {**signs, "==": float.__eq__, "!=": float.__ne__}
    found = [tests[each.comparison.sign](float(left), float(right)) for left, right in each.sides]
    holding = sum(found)
    result = HOLDS if holding == len(found) else FAILS if not holding else UNDECIDED
    of = f" in {holding} of {len(found)} loads" if result == UNDECIDED else ""
    left, right = (median(sides) for sides in zip(*each.sides, strict=True))
    against = "" if _constant(each.comparison.right) else f" against {_figure(right)}"
    return Outcome(result, f"{_figure(left)}{against}{of}")


def _numbers(each: Leaf, found: Interval) -> str:
    """What stands beside a number with its interval; of two sides that vary, both, and their ratio."""
    left, right = (median(sides) for sides in zip(*each.sides, strict=True))
    if _constant(each.comparison.right):
        return _with_interval(found.ratio * right, found.low * right, found.high * right)
    if _constant(each.comparison.left):
        return _with_interval(left / found.ratio, left / found.high, left / found.low)
    ratio = _with_interval(found.ratio, found.low, found.high)
    return f"{_figure(left)} against {_figure(right)}: {ratio}x"


def _constant(value: Value) -> bool:
    return not list(figures(value))


def _with_interval(value: float, low: float, high: float) -> str:
    if low <= 0 or high / low > WIDEST:
        return f"{_figure(value)} [no telling]"
    return f"{_figure(value)} [{_figure(low)}, {_figure(high)}]"


def _figure(value: float) -> str:
    if 0.01 <= abs(value) < 100:
        return f"{value:.2f}"
    return numbers.rate(value) if abs(value) >= 100 else f"{value:.3g}"
