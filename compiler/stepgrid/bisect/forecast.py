"""What a search would cost: the search itself, tried on made-up figures before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import numpy as np

from stepgrid.bisect.posterior import NOISE
from stepgrid.bisect.search import Evidence, Measure, Question, next_step
from stepgrid.model import units
from stepgrid.model.units import counted, duration

TRIALS = 40
_SEED = 1
_MOST = 0.95  # share of the trials that need no more


@dataclass(frozen=True, slots=True)
class Forecast:
    builds: int
    most_builds: int
    loads: int
    most_loads: int


def forecast(question: Question, noise: float = NOISE) -> Forecast:
    """Of a change as large as the one that is looked for, anywhere."""
    dice = np.random.default_rng(_SEED)
    trials = [_trial(question, noise, int(dice.integers(1, question.count)), dice) for _ in range(TRIALS)]
    builds, loads = zip(*trials, strict=True)
    return Forecast(*_middle_and_most(builds), *_middle_and_most(loads))


def _middle_and_most(counts: tuple[int, ...]) -> tuple[int, int]:
    return round(median(counts)), sorted(counts)[int(_MOST * (len(counts) - 1))]


def _trial(question: Question, noise: float, change: int, dice: np.random.Generator) -> tuple[int, int]:
    """(builds, loads) until it ends."""
    samples: dict[int, tuple[float, ...]] = {}
    middle = question.threshold or 0.0
    levels = middle + question.smallest / 2, middle - question.smallest / 2
    while isinstance(step := next_step(question, Evidence(samples, (), tuple(samples))), Measure):
        for place in step.candidates:
            known = samples.get(place, ())
            new = dice.normal(levels[place >= change], noise, max(step.loads - len(known), 0))
            samples[place] = (*known, *map(float, new))
    return len(samples), sum(map(len, samples.values()))


def words(candidates: int, found: Forecast, seconds: float) -> str:
    """`seconds`: of a load."""
    time, most = duration(seconds * found.loads), duration(seconds * found.most_loads)
    return "\n".join(
        (
            f"{counted(candidates, 'candidate')} after the good one",
            f"builds: {found.builds}, at most {found.most_builds} in 19 of 20 searches",
            f"loads: {found.loads}, at most {found.most_loads}, of {duration(seconds)} each: {time}, at most {most}",
            f"assumed: a change of the size that is looked for, {units.percent(NOISE)} noise of a load, "
            "nothing measured yet",
        )
    )
