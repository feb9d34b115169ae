"""Loads, runs and durations that fit into a budget, and how narrow the intervals of a report would be with them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean, median, variance
from typing import NamedTuple

from stepgrid.model.plan import MOST_LOADS
from stepgrid.model.table import group
from stepgrid.plan.estimate import Preview
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Place
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics.confidence_intervals import Interval, special
from stepgrid.summarize.statistics.time_series import Relative
from stepgrid.summarize.statistics.verdicts import critical_later

RUNS, LONGER, SHARES = (1, 2, 3, 5), (0.5, 1.0, 2.0, 4.0), (1.0, 0.5, 0.25)
POWER = 0.8
Design = tuple[int, int, float]  # loads, runs, and the duration, to that of today


class Choice(NamedTuple):
    loads: int
    runs: int
    longer: float  # the duration, to that of today
    seconds: float  # still to measure
    bytes: int | None  # of the images of loads that are added
    typical: float  # how far the interval of the middle comparison would reach
    noisiest: float  # of the step whose intervals are widest
    difference: float  # of that step, which would have a verdict 4 times in 5


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of one load of everything, and what is measured already."""

    load: float
    run: float  # all that follows the loads, once
    timed: float  # of this the seconds that a longer duration lengthens
    loads: int  # that are measured
    runs: int
    forks: bool  # runs start from an image
    bytes: int | None = None

    def remaining(self, loads: int, runs: int, longer: float) -> float:
        """Count the seconds to measure: runs of another duration are measured anew, loads are not."""
        added = max(loads - self.loads, 0) * self.load
        if longer != 1:
            return added + (self.run + self.timed * (longer - 1)) * loads * runs
        return added + self.run * (loads * runs - min(loads, self.loads) * min(runs, self.runs))

    def added_bytes(self, loads: int) -> int | None:
        return None if self.bytes is None else max(loads - self.loads, 0) * self.bytes


@dataclass(frozen=True, slots=True)
class NoiseParts:
    """Variances of the logarithm of one load's ratio."""

    loads: float  # neither more runs nor longer ones lower it
    runs: float = 0.0  # of one run of each arm, beside its seconds
    series: float = 0.0  # of the seconds of one run, at the duration of today

    def variance(self, runs: int, longer: float) -> float:
        """`longer`: the duration, to the one of today."""
        return self.loads + (self.runs + self.series / longer) / runs


@dataclass(frozen=True, slots=True)
class WidthForecast:
    step: str
    interval: Interval
    parts: NoiseParts

    def width(self, loads: int, runs: int, longer: float) -> float:
        """Foresee how far the interval would reach from its ratio."""
        return math.expm1(self._critical(loads) * self._error(loads, runs, longer))

    def difference(self, loads: int, runs: int, longer: float, effect: float) -> float:
        """Foresee the difference that would have a verdict beyond the smallest effect 4 times in 5."""
        reach = self._critical(loads) + special("stdtrit", self._freedom(loads), POWER)
        return math.expm1(math.log1p(effect) + reach * self._error(loads, runs, longer))

    def _error(self, loads: int, runs: int, longer: float) -> float:
        return math.sqrt(self.parts.variance(runs, longer) / loads)

    def _critical(self, loads: int) -> float:
        return critical_later(self.interval, self._freedom(loads))

    def _freedom(self, loads: int) -> float:
        return self.interval.freedom * (loads - 1) / (self.interval.loads - 1)


def costs(preview: Preview, duration: float | None) -> Costs | None:
    """Take the times of a preview; None where a stage's time is not known.

    `duration`: that of `params`, which other durations replace.
    """
    first = [stage for stage in preview.plan.stages if not stage.load and not stage.run]
    took = {node.status.id: node.status.seconds for node in preview.nodes}
    if any(took.get(stage.id) is None for stage in first):
        return None
    roots = {stage.id for stage in first if stage.parent is None and stage.children}
    sizes = [node.bytes for node in preview.nodes if node.status.id in roots]
    steps = [step for stage in first if stage.id not in roots for step in stage.steps]
    return Costs(
        sum(took[node] or 0.0 for node in roots),
        sum(took[stage.id] or 0.0 for stage in first if stage.id not in roots),
        sum(duration or 0.0 for step in steps if step.settings.get("duration") == duration),
        max(stage.load for stage in preview.plan.stages) + 1,
        max(stage.run for stage in preview.plan.stages) + 1,
        any(stage.parent for stage in first),
        sum(size or 0 for size in sizes) if sizes and None not in sizes else None,
    )


def forecasts(report: Report) -> list[WidthForecast]:
    """Forecast every comparison that has an interval over loads."""
    summaries = report.data.series.summaries.items()
    seconds = {key: summary.relative for key, summary in summaries if summary.relative}
    return [
        forecast(case.row.step, case.entry.interval, case.point, case.base, seconds)
        for comparison in report.comparisons.leading
        for case in comparison.cases()
        if case.entry.interval and case.entry.interval.error
    ]


def forecast(
    step: str, interval: Interval, point: Point, base: Point, seconds: Mapping[Place, Relative]
) -> WidthForecast:
    """Divide the noise that the interval shows by what runs of a load, and seconds of a run, differ by."""
    total = interval.deviation**2
    runs = max((len(row) for side in (point, base) for row in side.values().values()), default=1)
    between = min(sum(_variance_of_runs(side) for side in (point, base)) / runs, total)
    errors = [[seconds[run.place].error ** 2 for run in side.runs if run.place in seconds] for side in (point, base)]
    series = min(sum(fmean(row) for row in errors if row) / runs, total)
    shared = max(between, series)
    return WidthForecast(step, interval, NoiseParts(total - shared, (shared - series) * runs, series * runs))


def _variance_of_runs(point: Point) -> float:
    """Pool the variance of one run over the loads; 0 where no load has two."""
    logs = [[math.log(value) for value in runs] for runs in point.values().values() if len(runs) > 1]
    freedom = sum(len(runs) - 1 for runs in logs)
    return sum(variance(runs) * (len(runs) - 1) for runs in logs) / freedom if freedom else 0.0


def choices(forecasts: Sequence[WidthForecast], price: Costs, budget: float, effect: float) -> list[Choice]:
    """Return the choices that no other one beats in both seconds and width, the narrowest first."""
    candidates = [choice(forecasts, price, effect, design) for design in dict.fromkeys(_designs(price, budget))]
    candidates.sort(key=lambda candidate: (candidate.noisiest, candidate.seconds))
    best: list[Choice] = []
    for candidate in candidates:
        if not best or candidate.seconds < best[-1].seconds:
            best.append(candidate)
    return best


def choice(forecasts: Sequence[WidthForecast], price: Costs, effect: float, design: Design) -> Choice:
    by_step = group((row.step, row) for row in forecasts)
    widths = {step: median(row.width(*design) for row in rows) for step, rows in by_step.items()}
    noisiest = max(widths, key=lambda step: widths[step])
    seconds, size = price.remaining(*design), price.added_bytes(design[0])
    typical = median(row.width(*design) for row in forecasts)
    difference = median(row.difference(*design, effect) for row in by_step[noisiest])
    return Choice(*design, seconds, size, typical, widths[noisiest], difference)


def _designs(price: Costs, budget: float) -> Iterator[Design]:
    """Take for each number of runs and duration the most loads that all, half or a quarter of the budget pays."""
    lengths = LONGER if price.timed else (1.0,)
    for runs, longer, share in product(RUNS if price.forks else (1,), lengths, SHARES):
        designs = [(loads, runs, longer) for loads in range(2, MOST_LOADS + 1)]
        affordable = [design for design in designs if price.remaining(*design) <= budget * share]
        if affordable:
            yield affordable[-1]
