"""What is known beside the figures of a plan, for the comparisons of any of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from stepgrid.collect.series import NOT_STEADY
from stepgrid.model.plan import Axis
from stepgrid.summarize.comparisons import builds, missed_rates
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.comparison_axes import Layout
from stepgrid.summarize.comparisons.comparison_verdict import Caveat, Evidence
from stepgrid.summarize.comparisons.environment_difference import EnvironmentDifference
from stepgrid.summarize.comparisons.noise_floor import Floors, floors
from stepgrid.summarize.comparisons.starting_state import StartingState
from stepgrid.summarize.data import client_cpu, missed_lookups
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Series
from stepgrid.summarize.data.tables_reader import Run, Tables


class Marks(Protocol):
    def __call__(self, point: Point, base: Point, again: bool) -> Sequence[str]:
        """`again`: the arms share their loads."""


@dataclass(frozen=True, slots=True)
class ComparisonEvidence:
    """For a table of comparisons, and for any two points."""

    series: Series
    effect: float
    caveat: Caveat
    noise: Floors
    marks: Marks
    other_host: Caveat
    difference: Caveat

    def apart(self, point: Point, base: Point) -> str | None:
        """Why they may not be compared, as shipped or not."""
        return self.other_host(point, base) or self.difference(point, base) or self.caveat(point, base)

    def __call__(self, form: Layout, axes: Sequence[Axis]) -> Evidence:
        again = shares_loads(form, axes)
        floor, marks = partial(self.noise.floor, again=again), partial(self.marks, again=again)
        return Evidence(self.series, self.effect, self.caveat, floor, marks, self.difference, self.other_host)

    def floor(self, axes: Sequence[Axis], point: Point, base: Point) -> float | None:
        """By the axes in which they differ."""
        unlike = tuple(axis.name for axis in axes if point.labels.get(axis.name) != base.labels.get(axis.name))
        return self.noise.floor(point, base, again=shares_loads(Layout({}, unlike, ()), axes))


def evidence(
    tables: Tables, effect: float, around: EnvironmentDifference, refusal: Caveat, known: Mapping[str, Build]
) -> ComparisonEvidence:
    hosts = around.hosts
    names = {facts["hostname"] for facts in hosts.values() if "hostname" in facts}
    engines = {build: facts["engine"] for build, facts in tables.facts.get("build", {}).items() if "engine" in facts}
    noise = floors(tables.runs, tables.history, names, engines)
    began = StartingState(tables.facts.get("start", {}), tables.facts.get("step start", {}))

    def marks(point: Point, base: Point, again: bool) -> Sequence[str]:
        return (*_marks(around, point, base), *began.marks(point, base, again))

    return ComparisonEvidence(
        tables.series, effect, refusal, noise, marks, around.caveat, partial(builds.difference, known)
    )


def shares_loads(form: Layout, axes: Sequence[Axis]) -> bool:
    """Whether the arms start from one and the same database: what tells them apart begins after it."""
    return all(axis.steps is not None for axis in axes if axis.name in form.across)


def _marks(around: EnvironmentDifference, point: Point, base: Point) -> Iterator[str]:
    yield from around.marks(point, base)
    yield from marks(point, base)
    yield from missed_lookups.marks(point, base)
    yield from client_cpu.marks(point, base)
    yield from missed_rates.marks(point, base)


# Which runs of a comparison never came to a steady state: their figures are of a state on its way.


def marks(point: Point, base: Point) -> Iterator[str]:
    """`no steady state in 2 of 5 runs, in 1 of 5 of the base`; a side that could not be tested has no count."""
    arm, against = (_counted(each) for each in (point, base))
    if not (arm[0] or against[0]):
        return
    if not against[1]:
        yield f"{NOT_STEADY} in {arm[0]} of {arm[1]} runs (those of the base are too short to tell)"
    elif not arm[1]:
        yield f"{NOT_STEADY} in {against[0]} of {against[1]} runs of the base (those of this arm are too short to tell)"
    else:
        yield f"{NOT_STEADY} in {arm[0]} of {arm[1]} runs, in {against[0]} of {against[1]} of the base"


def unsteady(run: Run) -> bool:
    """It was tested, and has no start of a steady part."""
    return "steady_change_pct" in run.metrics and "steady_from_s" not in run.metrics


def _counted(point: Point) -> tuple[int, int]:
    tested = [run for run in point.runs if "steady_change_pct" in run.metrics]
    return sum(map(unsteady, tested)), len(tested)
