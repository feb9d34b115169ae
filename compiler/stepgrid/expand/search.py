"""Values that are chosen when a step runs: searches on an axis, and rates that are a share of what a step reached.

A search: which value to try next, and the best one, from the values that were tried.

Values stand on a logarithmic scale. Two forms: the largest value at which a condition holds (a boundary), and the value
with the best figure (a peak), of a curve that rises to its knee and is flat or falls from there on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from stepgrid.language.expressions import ExpressionError, evaluate, find_nodes
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import Json, PlannedStep
from stepgrid.model.records import StepRecord, StepSetup, replace
from stepgrid.plugins.driver import TARGET, RateTargets
from stepgrid.plugins.registry import driver

SEARCH = "search"  # of a step's setup, and of its record
KNEE = 0.95  # of the best figure
_WRONG = 0.1  # how often a try is taken for wrong: a host that is busy for a moment
_CELLS, _OUTSIDE = 240, 0.025  # of the range, on a logarithmic scale; the share of each side of it
_KEYS = ("variable", "param", "least", "most", "for", "points", "number")  # of a search in a step's setup
_SHARE_KEYS = ("variable", "param", "percent", "of")  # likewise of a share
_OBJECTIVE = re.compile(r"\s*max\s+([^\W\d]\w*)(?:\s+where\s+(.+?))?(?<!\s)\s*+", re.S)


class AxisSearch(Struct, frozen=True):
    """`number`: which of its points a step is, from 1."""

    variable: str
    param: str
    least: int
    most: int
    objective: str
    points: int
    number: int = 1

    @property
    def label(self) -> str:
        return f"{self.least} to {self.most}, searched"

    @property
    def limit(self) -> str:
        """Name the metric of the largest value that holds; empty for the best of several, which is too good for one."""
        return f"highest_{self.variable}" if parse_objective(self.objective).name == self.variable else ""

    def to_json(self) -> dict[str, Json]:
        values = (self.variable, self.param, self.least, self.most, self.objective, self.points, self.number)
        return dict(zip(_KEYS, values, strict=True))

    @classmethod
    def from_setup(cls, setup: StepSetup) -> AxisSearch | None:
        values: Mapping[str, Any] = setup.search
        return cls(*(values[key] for key in _KEYS)) if "number" in values else None

    def group(self, step: str) -> str:
        """The part that the names of all points of a search have in common."""
        return re.sub(rf"\b{re.escape(self.variable)}=#{self.number}\b", f"{self.variable}=", step)


class RateShare(Struct, frozen=True):
    """A rate that is a share of what a step before it in its stage has reached without one."""

    variable: str
    param: str
    percent: float
    of: str  # name of that step

    least = 1  # the setting before the value is chosen

    @property
    def label(self) -> str:
        return f"{self.percent:g}% of {self.of}"

    def to_json(self) -> dict[str, Json]:
        return dict(zip(_SHARE_KEYS, (self.variable, self.param, self.percent, str(self.of)), strict=True))

    def value(self, target: RateTarget, figure: float) -> float:
        value = self.percent / 100 * figure / target.of_one
        return max(1, round(value)) if target.is_whole else round(value, 3) or 0.001


Chosen: TypeAlias = AxisSearch | RateShare


def chosen_axis(setup: StepSetup) -> Chosen | None:
    """Read how the value of a point is chosen; None for a step whose settings are all of the plan."""
    values: Mapping[str, Any] = setup.search
    return RateShare(*(values[key] for key in _SHARE_KEYS)) if "percent" in values else AxisSearch.from_setup(setup)


class RateTarget(NamedTuple):
    """The figure that a rate is a target of; `of_one`: the target of a setting of 1, which each client may have."""

    metric: str
    of_one: float
    is_whole: bool = True  # its clients take whole numbers only


def rate_target(kind: str, settings: Mapping[str, Json], param: str) -> RateTarget | None:
    """Find what a setting asks of the clients; None if it is no rate. What stands in words is one of operations."""
    if param not in settings:
        return RateTarget(QPS, 1.0) if param.endswith("rate") else None
    plugin = driver(kind)
    if not isinstance(plugin, RateTargets):
        return None
    one, half, two = (plugin.targets({**settings, param: value}) for value in (1, 1.5, 2))
    return next(
        (
            RateTarget(name.removeprefix(TARGET), two[name] - one[name], half.get(name) in (None, one[name]))
            for name in two
            if name in one and two[name] != one[name]
        ),
        None,
    )


def is_setting(search: Chosen, settings: Mapping[str, Json]) -> bool:
    """Tell whether the value has a place: a setting, or words of a command."""
    return search.param in settings or placeholder(search) in str(settings)


def placeholder(search: Chosen) -> str:
    """Stand for the value in the words of a command."""
    return f"{{{search.param}}}"


def with_value(step: PlannedStep, value: float) -> PlannedStep:
    """Set the value that was chosen for a step: its setting, or a word of its command where it has no such setting."""
    search = chosen_axis(step.setup)
    if search is None:
        return step
    if search.param in step.settings:
        return replace(step, settings={**step.settings, search.param: value})

    def fill(setting: Json) -> Json:
        if not isinstance(setting, list):
            return setting
        return [word.replace(placeholder(search), str(value)) if isinstance(word, str) else word for word in setting]

    return replace(step, settings={name: fill(setting) for name, setting in step.settings.items()})


def shown_settings(step: PlannedStep) -> Mapping[str, Json]:
    """Put in place of a value that is not chosen yet how it will be."""
    chosen = chosen_axis(step.setup)
    label = {chosen.param: chosen.label} if chosen and chosen.param in step.settings else {}
    return {**step.settings, **label}


def as_run(step: PlannedStep, record: StepRecord) -> PlannedStep:
    """Set the value that the step's record says was tried."""
    return step if record.search is None else with_value(step, record.search)


class Objective(NamedTuple):
    """The aim of a search on an axis: `max rate where stall_pct < 1 and p99_us < 5000`."""

    name: str  # a metric, or the variable itself
    condition: str  # empty: there is none

    @property
    def names(self) -> set[str]:
        """Metrics, and perhaps the variable."""
        from jinja2 import nodes

        named = find_nodes(self.condition, nodes.Name)[0] if self.condition else []
        return {self.name, *(str(node.name) for node in named)}

    def holds(self, names: Mapping[str, float]) -> bool:
        """Evaluate the condition; ExpressionError if a name is undefined."""
        value = evaluate(self.condition, names) if self.condition else True
        if not isinstance(value, bool):
            raise ExpressionError(f"`{self.condition}` is neither true nor false")
        return value


def parse_objective(text: str) -> Objective:
    match = _OBJECTIVE.fullmatch(text)
    if match is None:
        hint = "expected `max NAME`, or `max NAME where CONDITION`"
        raise ExpressionError(f"`{text}` is not what a search can be for", hint=hint)
    objective = Objective(match[1], match[2] or "")
    assert objective.names  # raises if the condition cannot be read
    return objective


class Trial(Struct, frozen=True):
    value: int
    holds: bool  # the condition; without one, always
    figure: float  # that is to be as large as possible: of a boundary the value itself


# Boundaries.


def next_boundary(least: int, most: int, trials: Sequence[Trial]) -> int:
    """The middle of what is believed of the limit: on which side of it the limit lies is open."""
    limits = _weighted_limits(least, most, trials)
    half, below = math.fsum(weight for _, weight in limits) / 2, 0.0
    for limit, weight in limits:
        below += weight
        if below >= half:
            return math.floor(min(max(limit, least), most))  # rounded up it would be above the limit that it stands for
    return most


def boundary(least: int, most: int, trials: Sequence[Trial]) -> tuple[int | None, int | None]:
    """The largest value that mostly held and is probably below the limit; the smallest above it that mostly failed.

    Where what held is too near to what failed to be probable, it is the largest value below all that failed."""
    limits = _weighted_limits(least, most, trials)
    half = math.fsum(weight for _, weight in limits) / 2
    tries: dict[int, list[bool]] = {}
    for trial in trials:
        tries.setdefault(trial.value, []).append(trial.holds)
    mostly_held = {value: sum(holds) * 2 > len(holds) for value, holds in tries.items()}
    below = max(
        (
            value
            for value, is_held in mostly_held.items()
            if is_held and math.fsum(weight for limit, weight in limits if limit >= value) >= half
        ),
        default=None,
    )
    failed = [value for value in mostly_held if not mostly_held[value] and (below is None or value > below)]
    smallest = min(failed, default=None)
    if below is None and smallest is not None:
        below = max((value for value in mostly_held if value < smallest), default=None)
    return below, smallest


def _weighted_limits(least: int, most: int, trials: Sequence[Trial]) -> list[tuple[float, float]]:
    """List where the limit may lie, within the range, below or above it, and how probable each place is."""
    step = math.log(most / least) / _CELLS
    inside = [(least * math.exp(step * (cell + 0.5)), 1.0) for cell in range(_CELLS)]
    limits = [(0.0, _CELLS * _OUTSIDE), *inside, (math.inf, _CELLS * _OUTSIDE)]

    def chance(limit: float, trial: Trial) -> float:
        return 1 - _WRONG if trial.holds == (limit >= trial.value) else _WRONG

    return [(limit, weight * math.prod(chance(limit, trial) for trial in trials)) for limit, weight in limits]


# Peaks.


def next_peak(least: int, most: int, points: int, trials: Sequence[Trial]) -> int:
    """First an even ladder of about half of the points, then the wider gap beside the best value or the knee."""
    rungs = (points + 2) // 2
    ratio = most / least
    ladder: list[int] = sorted({round(least * ratio ** (rung / (rungs - 1))) for rung in range(rungs)})
    if len(trials) < len(ladder):
        return ladder[len(trials)]
    tried = sorted({trial.value for trial in trials})
    best, bend = peak(trials), knee(trials)
    if best is None or bend is None:
        return least  # the condition holds nowhere
    around = (best.value, bend) if len(trials) % 2 else (bend, best.value)
    return next((new for value in around if (new := _between(tried, value)) is not None), best.value)


def peak(trials: Sequence[Trial]) -> Trial | None:
    """The value with the best mean figure."""
    means = _mean_figures(trials)
    if not means:
        return None
    value = max(means, key=means.__getitem__)
    return Trial(value, True, means[value])


def knee(trials: Sequence[Trial]) -> int | None:
    """The smallest value with nearly the best figure."""
    means, best = _mean_figures(trials), peak(trials)
    return None if best is None else min(value for value, mean in means.items() if mean >= KNEE * best.figure)


def _mean_figures(trials: Sequence[Trial]) -> dict[int, float]:
    """Average the tries of each value at which the condition held each time."""
    failed = {trial.value for trial in trials if not trial.holds}
    figures: dict[int, list[float]] = {}
    for trial in trials:
        if trial.value not in failed:
            figures.setdefault(trial.value, []).append(trial.figure)
    return {value: math.fsum(tries) / len(tries) for value, tries in figures.items()}


def _between(tried: Sequence[int], value: int) -> int | None:
    """The middle of the wider gap beside a value; None where both are closed."""
    index = tried.index(value)
    gaps = list(pairwise(tried))[max(index - 1, 0) : index + 1]
    for low, high in sorted(gaps, key=lambda gap: gap[1] / gap[0], reverse=True):
        middle = max(low, min(high, round(math.sqrt(low * high))))
        if middle not in (low, high):
            return middle
    return None
