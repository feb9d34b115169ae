"""Whether a step became faster or slower in the course of an experiment, whatever was measured.

Each figure against what its arm and its load come to elsewhere, by the time at which it was measured: within a block
all arms are measured once, in an order of chance, so that a trend with time is none of the arms'. What changes from one
block to the next cannot be told from what differs between the loads, and is in neither.
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
    hours: float  # from the first to the last run of a load, the median: a trend is known for no longer
    chance: float


def sentences(steps: Sequence[tuple[str, Sequence[Point]]]) -> Iterator[str]:
    found = [drift for step, points in steps if (drift := of(step, points))]
    for each in found:
        if each.chance * len(found) < CHANCE:
            way = "faster" if each.per_hour > 0 else "slower"
            by, span = percent(abs(math.expm1(each.per_hour * each.hours))), duration(3600 * each.hours)
            yield (
                f"{each.step}: became {by} {way} from the first to the last arm of a load ({span}), whatever the arm: "
                "the order by chance keeps that out of the ratios, not out of the figures"
            )


def of(step: str, points: Iterable[Point]) -> Drift | None:
    """By least squares, with a mean for every arm and every load; None where too little is left to tell, or a load did
    nothing.
    """
    points = list(points)
    rows = [] if any(point.idle_loads for point in points) else list(_rows(points))
    arms, loads = ({row[at] for row in rows} for at in (0, 1))
    freedom = len(rows) - len(arms) - len(loads)
    if freedom < FEWEST_FREEDOMS:
        return None
    import numpy as np

    of_arm, of_load = (_numbered([row[at] for row in rows]) for at in (0, 1))
    time, logs = (_centred(np.array([row[at] for row in rows]), of_arm, of_load) for at in (2, 3))
    if not (spread := float(time @ time)) > 1e-9:
        return None
    slope = float(time @ logs) / spread
    rest = logs - slope * time
    error = math.sqrt(max(float(rest @ rest), 1e-18) / freedom / spread)
    return Drift(step, slope, _span(rows), 2 * special("stdtr", freedom, -abs(slope) / error))


def _span(rows: Sequence[tuple[int, int, float, float]]) -> float:
    times: dict[int, list[float]] = {}
    for _, load, hours, _ in rows:
        times.setdefault(load, []).append(hours)
    return median(max(found) - min(found) for found in times.values())


def _rows(points: Iterable[Point]) -> Iterator[tuple[int, int, float, float]]:
    """(arm, load, hours, logarithm), each run once."""
    seen: set[object] = set()
    for arm, point in enumerate(points):
        for run in point.runs:
            if run.started and QPS in run.metrics and run.place not in seen:
                seen.add(run.place)
                yield arm, run.load, run.started.timestamp() / 3600, math.log(run.metrics[QPS])


def _numbered(found: Sequence[int | float]) -> Sequence[int]:
    known = {value: number for number, value in enumerate(dict.fromkeys(found))}
    return [known[value] for value in found]


def _centred(values: Array, *groups: Sequence[int]) -> Array:
    import numpy as np

    values = values - values.mean()
    for _ in range(ROUNDS):
        before = values
        for group in groups:
            values = values - (np.bincount(group, values) / np.bincount(group))[group]
        if np.abs(values - before).max() < 1e-12:
            break
    return values
