"""The numbers of a comparison of a claim: a ratio or a figure with its interval, and what is claimed of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean
from typing import TypeAlias

from stepgrid.model import units
from stepgrid.model.plan import BUILD
from stepgrid.plan.report_check import Arithmetic, Comparison, Number, Value, figures
from stepgrid.plugins.layout import STEP
from stepgrid.summarize.statistics.confidence_intervals import Interval

Sides: TypeAlias = tuple[tuple[float, float], ...]  # of each load
TIMES = units.TIMES
_SIGNS = {"<=": "≤", ">=": "≥"}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def ordered(comparison: Comparison) -> Comparison:
    """a - b > 0 asks what a > b asks, and that is a ratio."""
    match comparison:
        case Comparison(lhs=Arithmetic(sign="-", lhs=left, rhs=right), rhs=Number(value=0)):
            return Comparison(comparison.sign, left, right)
        case Comparison(lhs=Number(value=0), rhs=Arithmetic(sign="-", lhs=left, rhs=right)):
            return Comparison(comparison.sign, right, left)
    return comparison


def means(comparison: Comparison, sides: Sides) -> str:
    left, right = (fmean(side) for side in zip(*sides, strict=True))
    return _figure(left) if constant(comparison.rhs) else f"{_figure(left)} against {_figure(right)}"


def numbers(comparison: Comparison, sides: Sides, claimed: float | None, found: Interval, alone: bool) -> str:
    """A ratio or a figure with its interval, and what is claimed of it; of other sides both, and their ratio.

    Geometric means: the ratio is what they give.
    """
    left, right = (math.exp(fmean(map(math.log, side))) for side in zip(*sides, strict=True))
    asked = ordered(comparison)
    if constant(asked.lhs):  # 1.6 > f says that f < 1.6
        turned = Interval(1 / found.ratio, 1 / found.high, 1 / found.low, found.loads)
        return _claimed(turned, _FLIPPED[asked.sign], 1 / claimed if claimed else None, left, alone)
    if claimed is not None or constant(asked.rhs):
        return _claimed(found, asked.sign, claimed, right, alone)
    return _beside(asked, found, left, right, alone)


def _beside(asked: Comparison, found: Interval, left: float, right: float, alone: bool) -> str:
    """0.00206 against 0.00243: 0.85× (claimed ≤ 1.2×): a constant factor is part of what is claimed, not of a side."""
    over, under = _factor(asked.lhs), _factor(asked.rhs)
    sides = _named(asked.lhs, asked.rhs), _named(asked.rhs, asked.lhs)
    shown = f"{sides[0]}{_figure(left / over)} against {sides[1]}{_figure(right / under)}"
    if math.isclose(over, under):
        return f"{shown}: {_with_interval(found.ratio, found.low, found.high, alone, TIMES)}"
    return f"{shown}: {_claimed(found, asked.sign, under / over, right, alone)}"


def _factor(value: Value) -> float:
    """1.2 of `1.2 * qps(cache='lru') / 1`; 1 where there is none above zero."""
    match value:
        case Arithmetic(sign="*", lhs=Number(value=number), rhs=rest) if number > 0:
            return number * _factor(rest)
        case Arithmetic(sign="*", lhs=rest, rhs=Number(value=number)) if number > 0:
            return number * _factor(rest)
        case Arithmetic(sign="*", lhs=left, rhs=right):
            return _factor(left) * _factor(right)
        case Arithmetic(sign="/", lhs=left, rhs=right):
            return _factor(left) / _factor(right)
    return 1.0


def _claimed(found: Interval, sign: str, ratio: float | None, bound: float, alone: bool) -> str:
    """1.42× [1.38, 1.46] (claimed > 3×); of a figure that is no ratio 240 [230, 250] (claimed < 100)"""
    of, unit = (bound, "") if ratio is None else (ratio, TIMES)
    said = _with_interval(found.ratio * of, found.low * of, found.high * of, alone, unit)
    return f"{said} (claimed {_SIGNS.get(sign, sign)} {of:,.10g}{unit})"


def words(labels: Iterable[tuple[str, object]]) -> str:
    """A build and a step say what they are, any other label needs its axis."""
    return ", ".join(str(at) if axis in (BUILD, STEP) else f"{axis}={at}" for axis, at in labels)


def _named(value: Value, other: Value) -> str:
    """What tells a side from the other, with a space: the labels that are its alone, else its metric."""
    mine, others = (dict.fromkeys(figures(each)) for each in (value, other))
    labels = [dict.fromkeys(label for figure in each for label in figure.labels) for each in (mine, others)]
    metrics = {figure.metric for figure in mine}
    if own := [label for label in labels[0] if label not in labels[1]]:
        return f"{words(own)} "
    return f"{metrics.pop()} " if len(metrics) == 1 and metrics != {figure.metric for figure in others} else ""


def constant(value: Value) -> bool:
    return not list(figures(value))


def _with_interval(value: float, low: float, high: float, alone: bool, unit: str = "") -> str:
    if alone:
        return f"{_figure(value)}{unit}"
    shown = units.telling(low, high, _figure)
    return f"{shown(value)}{unit} {units.interval(low, high, _figure)}"


def _figure(value: float) -> str:
    """Of a side: it may be a ratio, or a figure with a unit."""
    return units.ratio(value) if 0.01 <= abs(value) < 99.995 else units.figure(value)
