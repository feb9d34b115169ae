"""How long a plan takes, what sharing saves, and how many repeats a small difference needs. Pure."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import variance
from typing import Any

from stepgrid.model.plan import Plan
from stepgrid.model.status import Stage

DIFFERENCE = 0.03
_ERROR = 1.959964
_Z = _ERROR + 0.841621  # a two-sided error of 5 %, and 80 % of such differences found


def shape(stage: Stage) -> str:
    """What decides how long a stage takes: what it does, whatever build and options it does it with."""
    return json.dumps([_what(step) for step in stage.steps], sort_keys=True)


def _what(step: Any) -> Any:
    """Of a step as a plan's file has it, digests of the same: of its parts the first two are kind and settings."""
    return step["parts"][:2] if isinstance(step, Mapping) else [step.kind, step.settings]


def saved(plan: Plan, each: Mapping[str, float | None]) -> float:
    """Seconds of the stages that cells share, as often as each would run again if every cell ran from scratch."""
    uses = Counter(stage for cell in plan.cells for repeat in cell.repeats for stage in repeat.stages)
    return math.fsum((each[stage] or 0.0) * (count - 1) for stage, count in uses.items())


@dataclass(frozen=True, slots=True)
class Power:
    """What a difference of 3 % between two cells would need to be seen."""

    step: str  # the noisiest
    spread: float  # of its repeats: a standard deviation, relative
    loads: int  # for an interval that leaves out 1
    seconds: float | None  # of all those loads, from scratch
    verdict: int | None = None  # loads for an interval beyond the smallest effect; None: no number is enough


def power(figures: Mapping[str, Sequence[Sequence[float]]], plan: Plan, whole: float | None) -> Power | None:
    """`figures`: step -> for each cell the figure of each load. None where nothing was repeated."""
    spreads = {step: found for step, cells in figures.items() if (found := _spread(cells)) is not None}
    if not spreads:
        return None
    step = max(spreads, key=lambda name: spreads[name])
    loads = needed(spreads[step], DIFFERENCE)
    now = max((repeat.load + 1 for cell in plan.cells for repeat in cell.repeats), default=1)
    seconds = None if whole is None else whole / now * loads
    return Power(step, spreads[step], loads, seconds, _verdict(spreads[step], plan.report.smallest_effect))


def needed(spread: float, difference: float, beyond: float = 0.0) -> int:
    """Loads of each of two cells, compared load by load as the report does, for an interval that lies beyond.

    The last term stands for the spread being estimated itself (Guenther 1981): close to what the noncentral t says.
    """
    wanted = math.log1p(difference) - math.log1p(beyond)
    return max(2, math.ceil(2 * (_Z * spread / wanted) ** 2 + _ERROR**2 / 2))


def _verdict(spread: float, effect: float) -> int | None:
    return needed(spread, DIFFERENCE, effect) if effect < DIFFERENCE else None


def _spread(cells: Iterable[Sequence[float]]) -> float | None:
    """Pooled over cells, on the logarithm: a cell with few loads says little by itself, one of which a load did nothing
    says nothing.
    """
    logs = [[math.log(value) for value in loads] for loads in cells if min(loads, default=0) > 0]
    told = [(variance(values), len(values) - 1) for values in logs if len(values) > 1]
    freedom = sum(count for _, count in told)
    return math.sqrt(sum(each * count for each, count in told) / freedom) if told else None
