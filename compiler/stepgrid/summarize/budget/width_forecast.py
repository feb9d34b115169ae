"""How wide an interval would be with other loads, runs and durations: from its own width and the parts of its noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.scipy_functions import special
from stepgrid.summarize.statistics.stopping_rule import shrunk
from stepgrid.summarize.statistics.timeseries import Relative

POWER = 0.8


@dataclass(frozen=True, slots=True)
class NoiseParts:
    """Variances of the logarithm of one load's ratio."""

    loads: float  # neither more runs nor longer ones lower it
    runs: float = 0.0  # of one run of each arm, beside its seconds
    series: float = 0.0  # of the seconds of one run, at the duration as it is

    def of(self, runs: int, longer: float) -> float:
        """`longer`: the duration, to the one of today."""
        return self.loads + (self.runs + self.series / longer) / runs


@dataclass(frozen=True, slots=True)
class WidthForecast:
    step: str
    interval: Interval
    parts: NoiseParts

    def width(self, loads: int, runs: int, longer: float) -> float:
        """How far it would reach from its ratio."""
        return math.expm1(self._reach(loads) * self._error(loads, runs, longer))

    def difference(self, loads: int, runs: int, longer: float, effect: float) -> float:
        """That would have a verdict beyond the smallest effect 4 times in 5."""
        reach = self._reach(loads) + special("stdtrit", self._freedom(loads), POWER)
        return math.expm1(math.log1p(effect) + reach * self._error(loads, runs, longer))

    def _error(self, loads: int, runs: int, longer: float) -> float:
        return math.sqrt(self.parts.of(runs, longer) / loads)

    def _reach(self, loads: int) -> float:
        """In standard errors: more loads know the noise better."""
        assert self.interval.error is not None
        now = math.log(self.interval.high / self.interval.ratio) / self.interval.error
        return now * shrunk(now, self.interval.freedom or 1.0, self._freedom(loads))

    def _freedom(self, loads: int) -> float:
        return (self.interval.freedom or 1.0) * (loads - 1) / (self.interval.loads - 1)


def forecast(
    step: str, interval: Interval, point: Point, base: Point, seconds: Mapping[Place, Relative]
) -> WidthForecast:
    """The whole is what its interval shows; the parts are what runs of a load, and seconds of a run, differ by."""
    assert interval.error is not None
    whole = interval.error**2 * interval.loads
    runs = max(_runs(point), _runs(base))
    between = min(sum(_between_runs(each) for each in (point, base)) / runs, whole)
    series = min(sum(_within(each, seconds) for each in (point, base)) / runs, whole)
    shared = max(between, series)
    return WidthForecast(step, interval, NoiseParts(whole - shared, (shared - series) * runs, series * runs))


def _runs(point: Point) -> int:
    return max((len(runs) for runs in point.values().values()), default=1)


def _between_runs(point: Point) -> float:
    """Of one run, pooled over the loads; 0 where no load has two."""
    logs = [[math.log(value) for value in runs] for runs in point.values().values() if len(runs) > 1]
    freedom = sum(len(runs) - 1 for runs in logs)
    return sum(variance(runs) * (len(runs) - 1) for runs in logs) / freedom if freedom else 0.0


def _within(point: Point, seconds: Mapping[Place, Relative]) -> float:
    """Of the mean of one run's seconds."""
    known = [seconds[run.place].error ** 2 for run in point.runs if run.place in seconds]
    return fmean(known) if known else 0.0


def best(widths: Sequence[tuple[float, float]]) -> list[int]:
    """The places of the choices that no other one beats in both seconds and width, the narrowest first."""
    order = sorted(range(len(widths)), key=lambda at: (widths[at][1], widths[at][0]))
    kept: list[int] = []
    for at in order:
        if not kept or widths[at][0] < widths[kept[-1]][0]:
            kept.append(at)
    return kept
