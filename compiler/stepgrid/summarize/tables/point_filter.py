"""Which points a table or a claim is about: labels by text or by value; a family of builds means its versions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from stepgrid.expand.scope import Label
from stepgrid.model.plan import BUILD
from stepgrid.plugins.layout import STEP
from stepgrid.summarize.data.measurements import Point

Wanted = Mapping[str, object]  # axis or `step` -> a label, or any of several

_GRID = re.compile(r"([^\[]+)\[(.*)\](.*)")


def label(point: Point, axis: str) -> str | None:
    return point.step if axis == STEP else point.labels.get(axis)


def chosen(points: Sequence[Point], wanted: Wanted) -> list[Point]:
    """A point that an axis does not touch is of all its labels. The name of a build is no family of others."""
    builds = {label(point, BUILD) for point in points}
    return [point for point in points if all(_fits(point, axis, said, builds) for axis, said in wanted.items())]


def _fits(point: Point, axis: str, said: object, builds: Collection[str | None]) -> bool:
    found = label(point, axis)
    if found is None:
        return True
    every = said if isinstance(said, list | tuple) else (said,)
    return found in every or any(_is(point, axis, found, each, builds) for each in every)


def _is(point: Point, axis: str, found: str, said: object, builds: Collection[str | None]) -> bool:
    if axis == BUILD and isinstance(said, str):
        return found == said or (said not in builds and found.startswith(f"{said}-"))
    if axis == STEP:
        return found == said or _one_of_grid(point, str(said))
    return Label(found) == said


def _one_of_grid(point: Point, said: str) -> bool:
    """search[ef=10,clients=1] is the step `search` at a place of its live grid."""
    parts = _GRID.fullmatch(said)
    if parts is None or parts[1] + parts[3] != point.step:
        return False
    variables = (each.partition("=") for each in parts[2].split(","))
    return all(point.labels.get(name) == value for name, _, value in variables)
