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
CLOSE = 1.03  # ends of a boundary that are no farther apart are told apart well enough


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
    """Halves what is open between the largest value that holds and the smallest above it that does not."""
    held, failed = boundary(trials)
    if held is None and any(trial.value == least for trial in trials):
        return least  # nothing holds: once more where it is easiest
    low = least if held is None else held
    if failed is None:
        return most if held is not None and trials else _middle(least, most)
    if held is not None and failed / held <= CLOSE:
        return held  # once more: what holds must hold each time
    middle = _middle(low, failed)
    return middle if middle != failed else low


def boundary(trials: Sequence[Trial]) -> tuple[int | None, int | None]:
    """The largest value that held each time, with nothing below it that failed; the smallest that failed."""
    failed = min((trial.value for trial in trials if not trial.holds), default=None)
    held = [trial.value for trial in trials if failed is None or trial.value < failed]
    return max(held, default=None), failed


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
