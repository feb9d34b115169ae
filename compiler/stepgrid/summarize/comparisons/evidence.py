"""What is known beside the figures of a plan, for the comparisons of any of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from stepgrid.model.plan import Axis
from stepgrid.summarize.comparisons import builds
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.comparison_axes import Layout
from stepgrid.summarize.comparisons.comparison_verdict import Caveat, Evidence
from stepgrid.summarize.comparisons.conditions import Conditions
from stepgrid.summarize.comparisons.noise_floor import Floors, floors
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Series
from stepgrid.summarize.data.tables_reader import Tables


class Marks(Protocol):
    def __call__(self, point: Point, base: Point, shares_loads: bool) -> Sequence[str]: ...


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
        floor, marks = partial(self.noise.floor, again=again), partial(self.marks, shares_loads=again)
        return Evidence(self.series, self.effect, self.caveat, floor, marks, self.difference, self.other_host)

    def floor(self, axes: Sequence[Axis], point: Point, base: Point) -> float | None:
        """By the axes in which they differ."""
        unlike = tuple(axis.name for axis in axes if point.labels.get(axis.name) != base.labels.get(axis.name))
        return self.noise.floor(point, base, again=shares_loads(Layout({}, unlike, ()), axes))


def evidence(
    tables: Tables, effect: float, conditions: Conditions, refusal: Caveat, known: Mapping[str, Build]
) -> ComparisonEvidence:
    hosts = tables.facts.get("host", {})
    names = {facts["hostname"] for facts in hosts.values() if "hostname" in facts}
    engines = {build: facts["engine"] for build, facts in tables.facts.get("build", {}).items() if "engine" in facts}
    noise = floors(tables.runs, tables.history, names, engines)
    return ComparisonEvidence(
        tables.series, effect, refusal, noise, conditions.marks, conditions.refusal, partial(builds.difference, known)
    )


def shares_loads(form: Layout, axes: Sequence[Axis]) -> bool:
    """Whether the arms start from one and the same database: what tells them apart begins after it."""
    return all(axis.steps is not None for axis in axes if axis.name in form.across)
