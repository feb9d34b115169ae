"""How far one load of a claim may lie from many of them: the noise floor of the experiment, else an assumption."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from stepgrid.collect.step_figures import TARGET
from stepgrid.model import units
from stepgrid.plan.report_check import Figure
from stepgrid.plugins import metrics

LEAST = 0.25  # that a load is taken to be off, however low the noise floor: it is of QPS alone, and of other hours
NOISE = 0.30  # of a load, on a host whose noise nobody knows: busy ones have it (docs/statistics.md)
UNKNOWN = math.expm1(1.96 * math.sqrt(2) * NOISE)  # 19 of 20 ratios of equal loads stay within it
TIMES = frozenset({"s", "ms", "us"})


HELD = (0.02, "held by the rate that was asked for")


def held(load: Mapping[Figure, float]) -> bool:
    """A client that keeps to the rate that it was asked for is no faster where the host is."""
    targets = {figure.metric.removeprefix(TARGET): value for figure, value in load.items() if TARGET in figure.metric}
    rates = [(value, targets[figure.metric]) for figure, value in load.items() if figure.metric in targets]
    return bool(rates) and all(value >= target * (1 - HELD[0]) for value, target in rates)


def reach(floor: float | None, timed: bool) -> tuple[float, str]:
    """How far, 0.25 for 25 %, and the words for it."""
    if floor is not None and floor > LEAST:
        return floor, f"noise floor {units.percent(floor)}"
    if floor is None and timed:
        return UNKNOWN, f"noise floor unknown, {units.times(1 + UNKNOWN)} assumed"
    return LEAST, f"±{units.percent(LEAST)} assumed"


def timed(names: Collection[str]) -> bool:
    """Whether one of these metrics follows the speed of the host: sizes and counts do not. Of one that is not ours
    nothing is known.
    """
    return any(_timed(metrics.unit(name)) for name in names)


def _timed(unit: str) -> bool:
    over, _, under = unit.partition("/")
    return not unit or over in TIMES or under == "s"
