"""How many loads and runs, and how long ones, fit into a budget, and how narrow the intervals of a report would be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import NamedTuple

from stepgrid.model.plan import MOST_LOADS
from stepgrid.plan.estimate import Preview
from stepgrid.summarize.budget.width_forecast import WidthForecast, best, forecast
from stepgrid.summarize.report import Report

RUNS, LONGER, SHARES = (1, 2, 3, 5), (0.5, 1.0, 2.0, 4.0), (1.0, 0.5, 0.25)


class Choice(NamedTuple):
    loads: int
    runs: int
    longer: float  # the duration, to that of today
    seconds: float  # that are left to measure
    bytes: int | None  # of the images of loads that are added
    typical: float  # how far the interval of the middle comparison would reach
    noisiest: float  # of the step whose intervals are widest
    difference: float  # of that step, which would have a verdict 4 times in 5


@dataclass(frozen=True, slots=True)
class Costs:
    """Of one load of everything."""

    load: float
    run: float  # all that follows the loads, once
    timed: float  # of this the seconds that a longer duration lengthens
    loads: int  # that are measured
    runs: int
    forks: bool  # runs start from an image
    bytes: int | None = None

    def left(self, loads: int, runs: int, longer: float) -> float:
        """Runs of another duration are measured anew; loads are not."""
        added = max(loads - self.loads, 0) * self.load
        if longer != 1:
            return added + (self.run + self.timed * (longer - 1)) * loads * runs
        return added + self.run * (loads * runs - min(loads, self.loads) * min(runs, self.runs))

    def added_bytes(self, loads: int) -> int | None:
        return None if self.bytes is None else max(loads - self.loads, 0) * self.bytes


def costs(found: Preview, duration: float | None) -> Costs | None:
    """`duration`: that of `params`, which other durations replace. None where a stage's time is not known."""
    first = [stage for stage in found.plan.stages if not stage.load and not stage.run]
    took = {node.status.id: node.status.seconds for node in found.nodes}
    if any(took.get(stage.id) is None for stage in first):
        return None
    roots = {stage.id for stage in first if stage.parent is None and stage.children}
    sizes = [node.bytes for node in found.nodes if node.status.id in roots]
    steps = [step for stage in first if stage.id not in roots for step in stage.steps]
    return Costs(
        sum(took[node] or 0.0 for node in roots),
        sum(took[stage.id] or 0.0 for stage in first if stage.id not in roots),
        sum(duration or 0.0 for step in steps if step.settings.get("duration") == duration),
        max(stage.load for stage in found.plan.stages) + 1,
        max(stage.run for stage in found.plan.stages) + 1,
        any(stage.parent for stage in first),
        sum(size or 0 for size in sizes) if sizes and None not in sizes else None,
    )


def forecasts(report: Report) -> list[WidthForecast]:
    """Of every comparison that has an interval over loads."""
    seconds = {place: each.relative for place, each in report.data.series.summaries.items() if each.relative}
    found = []
    for comparison in report.comparisons.leading:
        for case in comparison.cases():
            if case.entry.interval and case.entry.interval.error:
                found.append(forecast(case.row.step, case.entry.interval, case.point, case.base, seconds))
    return found


def choices(known: Sequence[WidthForecast], price: Costs, budget: float, effect: float) -> list[Choice]:
    """The narrowest first, each of them less work than the one above it."""
    every = list(dict.fromkeys(_fitting(price, budget)))
    found = [choice(known, price, effect, *each) for each in every]
    return [found[at] for at in best([(each.seconds, each.noisiest) for each in found])]


def choice(known: Sequence[WidthForecast], price: Costs, effect: float, loads: int, runs: int, longer: float) -> Choice:
    steps = {step: [each for each in known if each.step == step] for step in {each.step for each in known}}
    widths = {step: median(each.width(loads, runs, longer) for each in those) for step, those in steps.items()}
    noisiest = max(widths, key=lambda step: widths[step])
    differences = [each.difference(loads, runs, longer, effect) for each in steps[noisiest]]
    return Choice(
        loads, runs, longer, price.left(loads, runs, longer), price.added_bytes(loads),
        median(each.width(loads, runs, longer) for each in known), widths[noisiest], median(differences),
    )  # fmt: skip


def _fitting(price: Costs, budget: float) -> Iterator[tuple[int, int, float]]:
    """Of each number of runs and duration the most loads that all, half or a quarter of the budget pays."""
    lengths = LONGER if price.timed else (1.0,)
    for runs, longer, share in product(RUNS if price.forks else (1,), lengths, SHARES):
        paid = [n for n in range(2, MOST_LOADS + 1) if price.left(n, runs, longer) <= budget * share]
        if paid:
            yield paid[-1], runs, longer
