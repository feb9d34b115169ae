"""Loads that lie far from the others of their comparison: told, with the ratio without them, and never left out.

By the robust z of Iglewicz and Hoaglin: the distance from the median of the loads' log ratios, in units of the median
distance. That unit is of all comparisons of a table together, because three loads have none of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from stepgrid.summarize.statistics.confidence_intervals import Sample, exp
from stepgrid.summarize.statistics.scipy_functions import special

FARTHEST = 3.5  # their advice
FEWEST_LOADS = 3  # loads: of two, either may be the odd one
ENOUGH = 6  # distances that the unit is taken from
NOTED = 0.02  # a load that is no farther from the others than this does no harm


@dataclass(frozen=True, slots=True)
class Outlier:
    load: int
    z: float
    alone: float  # ratio of this load
    without: float  # ratio of the others


def outliers(samples: Sequence[Sample]) -> list[tuple[Outlier, ...]]:
    """One tuple per sample; nothing is said where the table has too few loads to know what is far."""
    far = [[log - median(each.logs) for log in each.logs] if len(each.logs) >= FEWEST_LOADS else [] for each in samples]
    unit = _unit([distance for distances in far for distance in distances])
    if not unit:
        return [()] * len(samples)
    return [_of(each, distances, unit) for each, distances in zip(samples, far, strict=True)]


def _of(sample: Sample, distances: Sequence[float], unit: float) -> tuple[Outlier, ...]:
    return tuple(
        Outlier(sample.loads[at], distance / unit, exp(sample.logs[at]), exp(_others(sample, at)))
        for at, distance in enumerate(distances)
        if abs(distance) > max(FARTHEST * unit, NOTED)
    )


def _others(sample: Sample, at: int) -> float:
    return fmean(log for index, log in enumerate(sample.logs) if index != at)


def _unit(distances: Sequence[float]) -> float:
    """Each load at the median of its own comparison has none by construction: it says nothing."""
    known = [abs(distance) for distance in distances if distance]
    return median(known) / special("ndtri", 0.75) if len(known) >= ENOUGH else 0.0
