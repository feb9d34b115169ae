"""Drift: a step that became faster or slower in the course of an experiment, whatever the arm.

Least squares of each figure's logarithm on its time, with a mean for every arm and every load. Within a block all arms
are measured once, in a random order, so that a trend with time is none of the arms'. Changes from one block to the next
cannot be told from differences between the loads, and are in neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from stepgrid.collect.series import CHANCE
from stepgrid.model.metrics import QPS
from stepgrid.model.units import duration, percent
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.scipy_functions import special

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FEWEST_FREEDOMS = 8  # degrees of freedom
ROUNDS = 50  # of taking out means in turn: one is exact where no run is missing


@dataclass(frozen=True, slots=True)
class Drift:
    step: str
    per_hour: float  # of the logarithm
    hours: float  # from the first to the last run of a load, the median: the trend is known for no longer
    chance: float

    @property
    def brief(self) -> str:
        span = 3600 * self.hours
        time = f"{span:.0f} s" if span < 60 else duration(span)
        return f"{self.step} drifted by {percent(round(self._size, 2))} ({time})"

    @property
    def text(self) -> str:
        span = duration(3600 * self.hours)
        return (
            f"{self.step}: became {self._change} from the first to the last arm of a load ({span}), whatever the arm: "
            "the random order keeps that out of the ratios, not out of the figures"
        )

    @property
    def _change(self) -> str:
        return f"{percent(self._size)} {'faster' if self.per_hour > 0 else 'slower'}"

    @property
    def _size(self) -> float:
        return abs(math.expm1(self.per_hour * self.hours))


def drifts(steps: Sequence[tuple[str, Sequence[Point]]]) -> list[Drift]:
    """List those that chance would hardly show in any of these steps."""
    drifts = [drift for step, points in steps if (drift := step_drift(step, points))]
    return [drift for drift in drifts if drift.chance * len(drifts) < CHANCE]


def step_drift(step: str, points: Iterable[Point]) -> Drift | None:
    """Fit a step's drift; None where too few runs are left to tell, or a load did nothing."""
    points = list(points)
    rows = [] if any(point.idle_loads for point in points) else list(_rows(points))
    arms, loads = ({row[index] for row in rows} for index in (0, 1))
    freedom = len(rows) - len(arms) - len(loads)
    if freedom < FEWEST_FREEDOMS:
        return None
    import numpy as np

    arm_numbers, load_numbers = (np.unique([row[index] for row in rows], return_inverse=True)[1] for index in (0, 1))
    time, logs = (_center(np.array([row[index] for row in rows]), arm_numbers, load_numbers) for index in (2, 3))
    if not (spread := float(time @ time)) > 1e-9:
        return None
    slope = float(time @ logs) / spread
    residuals = logs - slope * time
    error = math.sqrt(max(float(residuals @ residuals), 1e-18) / freedom / spread)
    times: dict[int, list[float]] = {}
    for _, load, hours, _ in rows:
        times.setdefault(load, []).append(hours)
    span = median(max(hours) - min(hours) for hours in times.values())
    return Drift(step, slope, span, 2 * special("stdtr", freedom, -abs(slope) / error))


def _rows(points: Iterable[Point]) -> Iterator[tuple[int, int, float, float]]:
    """Yield arm, load, hours and logarithm of each run."""
    counted: set[object] = set()  # a run of several arms counts once
    for arm, point in enumerate(points):
        for run in point.runs:
            if run.started and QPS in run.metrics and run.place not in counted:
                counted.add(run.place)
                yield arm, run.load, run.started.timestamp() / 3600, math.log(run.metrics[QPS])


def _center(values: Array, *groups: NDArray[np.intp]) -> Array:
    """Take out the means of groups, in turn until they stay 0."""
    import numpy as np

    values = values - values.mean()
    for _ in range(ROUNDS):
        before = values
        for group in groups:
            values = values - (np.bincount(group, values) / np.bincount(group))[group]
        if np.abs(values - before).max() < 1e-12:
            break
    return values
