"""What is known beside the figures of a plan, for the comparisons of any of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from compiler.plan.model import Axis
from compiler.summarize import builds, unsteady
from compiler.summarize.builds import Build
from compiler.summarize.floor import floors
from compiler.summarize.judging import Evidence
from compiler.summarize.layout import Layout
from compiler.summarize.points import Point
from compiler.summarize.surroundings import Surroundings
from compiler.summarize.tables import Tables

Of = Callable[[Layout, Sequence[Axis]], Evidence]


def evidence(tables: Tables, effect: float, within: float | None, known: Mapping[str, Build]) -> Of:
    hosts = tables.facts.get("host", {})
    noise = floors(tables.runs, tables.history, {facts["hostname"] for facts in hosts.values() if "hostname" in facts})
    around = Surroundings(hosts, within)

    def marks(point: Point, base: Point) -> Sequence[str]:
        return tuple(_marks(around, point, base))

    def of(form: Layout, axes: Sequence[Axis]) -> Evidence:
        again = shares_loads(form, axes)
        return Evidence(tables.series, effect, partial(builds.caveat, known), partial(noise.floor, again=again), marks)

    return of


def shares_loads(form: Layout, axes: Sequence[Axis]) -> bool:
    """Whether the arms start from one and the same database: what tells them apart begins after it."""
    return all(axis.steps is not None for axis in axes if axis.name in form.across)


def _marks(around: Surroundings, point: Point, base: Point) -> Iterator[str]:
    yield from around.marks(point, base)
    yield from unsteady.marks(point, base)
