"""A search on an axis: which value to try next, and what was found, from the values that were tried.

Values stand on a logarithmic scale. Two forms: the largest value at which a condition holds (a boundary), and the value
with the best figure (a peak), of a curve that rises to its knee and is flat or falls from there on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SEARCH = "search"  # of a step's setup, and of its record
SIZED = ("_rate", "_size", "memory")  # how settings end that are bytes
KNEE = 0.95  # of the best figure
WRONG = 0.1  # how often a try is taken for wrong: a host that is busy for a moment
_CELLS, _OUTSIDE = 240, 0.025  # of the range, on a logarithmic scale; the share of each side of it


@dataclass(frozen=True, slots=True)
class AxisSearch:
    """`number`: which of its points a step is, from 1."""

    variable: str
    param: str
    least: int
    most: int
    objective: str
    points: int
    number: int = 1

    def to_json(self) -> dict[str, Any]:
        return {
            "variable": self.variable,
            "param": self.param,
            "least": self.least,
            "most": self.most,
            "for": self.objective,
            "points": self.points,
            "number": self.number,
        }

    @classmethod
    def of(cls, setup: Mapping[str, Any]) -> AxisSearch | None:
        said = setup.get(SEARCH)
        if not isinstance(said, Mapping):
            return None
        names = ("variable", "param", "least", "most", "for", "points", "number")
        return cls(*(said[name] for name in names))

    def group(self, step: str) -> str:
        """What the names of all points of a search have in common."""
        return re.sub(rf"\b{re.escape(self.variable)}=#{self.number}\b", f"{self.variable}=", step)


@dataclass(frozen=True, slots=True)
class Trial:
    value: int
    holds: bool  # the condition; without one, always
    figure: float  # that is to be as large as possible: of a boundary the value itself


def next_boundary(least: int, most: int, trials: Sequence[Trial]) -> int:
    """The middle of what is believed of the limit: on which side of it the limit lies is open."""
    limits = _limits(least, most, trials)
    half, below = math.fsum(weight for _, weight in limits) / 2, 0.0
    for limit, weight in limits:
        below += weight
        if below >= half:
            return math.floor(min(max(limit, least), most))  # rounded up it would be above the limit that it stands for
    return most


def boundary(least: int, most: int, trials: Sequence[Trial]) -> tuple[int | None, int | None]:
    """The largest value that mostly held and is probably below the limit; the smallest above it that mostly failed."""
    limits = _limits(least, most, trials)
    half = math.fsum(weight for _, weight in limits) / 2
    mostly = {trial.value: _mostly_held(trial.value, trials) for trial in trials}
    held = [value for value in mostly if mostly[value] and _weight_from(value, limits) >= half]
    below = max(held, default=None)
    failed = [value for value in mostly if not mostly[value] and (below is None or value > below)]
    return below, min(failed, default=None)


def _mostly_held(value: int, trials: Sequence[Trial]) -> bool:
    own = [trial.holds for trial in trials if trial.value == value]
    return sum(own) * 2 > len(own)


def _weight_from(value: int, limits: Sequence[tuple[float, float]]) -> float:
    return math.fsum(weight for limit, weight in limits if limit >= value)


def _limits(least: int, most: int, trials: Sequence[Trial]) -> list[tuple[float, float]]:
    """Where the limit may lie and how probable that is: within the range, below or above it."""
    step = math.log(most / least) / _CELLS
    inside = [(least * math.exp(step * (cell + 0.5)), 1.0) for cell in range(_CELLS)]
    limits = [(0.0, _CELLS * _OUTSIDE), *inside, (math.inf, _CELLS * _OUTSIDE)]
    return [(limit, weight * math.prod(_chance(limit, trial) for trial in trials)) for limit, weight in limits]


def _chance(limit: float, trial: Trial) -> float:
    """That a limit shows itself so."""
    return 1 - WRONG if trial.holds == (limit >= trial.value) else WRONG


def next_peak(least: int, most: int, points: int, trials: Sequence[Trial]) -> int:
    """First an even ladder of about half of the points, then the wider gap beside the best value or the knee."""
    ladder = _ladder(least, most, (points + 2) // 2)
    if len(trials) < len(ladder):
        return ladder[len(trials)]
    tried = sorted({trial.value for trial in trials})
    best, bend = peak(trials), knee(trials)
    if best is None or bend is None:
        return least  # the condition holds nowhere
    around = (best.value, bend) if len(trials) % 2 else (bend, best.value)
    return next((new for value in around if (new := _between(tried, value)) is not None), best.value)


def peak(trials: Sequence[Trial]) -> Trial | None:
    """Of a value that was tried several times the mean counts."""
    means = _means(trials)
    if not means:
        return None
    value = max(means, key=lambda each: means[each])
    return Trial(value, True, means[value])


def knee(trials: Sequence[Trial]) -> int | None:
    """The smallest value with nearly the best figure."""
    means, best = _means(trials), peak(trials)
    return None if best is None else min(value for value, mean in means.items() if mean >= KNEE * best.figure)


def _means(trials: Sequence[Trial]) -> dict[int, float]:
    """Of the values at which the condition held each time."""
    failed = {trial.value for trial in trials if not trial.holds}
    found: dict[int, list[float]] = {}
    for trial in trials:
        if trial.value not in failed:
            found.setdefault(trial.value, []).append(trial.figure)
    return {value: math.fsum(figures) / len(figures) for value, figures in found.items()}


def _ladder(least: int, most: int, rungs: int) -> list[int]:
    ratio = most / least
    return sorted({round(least * ratio ** (rung / (rungs - 1))) for rung in range(rungs)})


def _between(tried: Sequence[int], value: int) -> int | None:
    """The middle of the wider gap beside a value; None where both are closed."""
    at = tried.index(value)
    gaps = [(tried[at - 1], value)] * (at > 0) + [(value, each) for each in tried[at + 1 : at + 2]]
    for low, high in sorted(gaps, key=lambda gap: gap[1] / gap[0], reverse=True):
        if (middle := _middle(low, high)) not in (low, high):
            return middle
    return None


def _middle(low: int, high: int) -> int:
    return max(low, min(high, round(math.sqrt(low * high))))
