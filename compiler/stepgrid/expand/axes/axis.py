"""The sweep's axes: named points, each a patch, and the steps that they change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepgrid.expand.axes.points import RESERVED, Point, of_axis
from stepgrid.expand.builds import Build
from stepgrid.language import models
from stepgrid.language.problems import Location, Problems
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map, Text


class Axis(NamedTuple):
    name: str
    where: Location
    points: tuple[Point, ...]
    start: Text | None = None  # changes what comes after this checkpoint
    steps: tuple[Text, ...] | None = None  # changes these steps


def resolve(document: Document, sets: Mapping[str, models.OptionSet], problems: Problems) -> list[Axis]:
    sweep = document.nodes.get("sweep")
    axes: list[Axis] = []
    for name, axis in document.spec.sweep.items():
        assert isinstance(sweep, Map)
        if axis.builds is None:
            axes += _axis(name, axis, sweep, problems)
    _conflicts(axes, sets, problems)
    _check_builds(axes, document.spec.sweep, problems)
    return axes


def chosen_builds(document: Document, builds: Sequence[Build], problems: Problems) -> list[Build]:
    """The builds of the build axis: all, or those that `sweep.build` names by family or by name."""
    axis = document.spec.sweep.get("build")
    if axis is None or axis.builds is None:
        return list(builds)
    sweep, chosen = document.nodes["sweep"], dict[str, Build]()
    if not axis.builds and isinstance(sweep, Map):
        problems.add("empty-axis", sweep.at["build"], "axis `build` has no points", width=len("build"))
    for name in axis.builds:
        found = named(name, builds)
        if not found:
            problems.undefined("build", name, name.where, [key for b in builds for key in (b.name, b.family)])
        chosen.update({build.name: build for build in found})
    return list(chosen.values())


def named(name: str, builds: Sequence[Build]) -> list[Build]:
    return [build for build in builds if name in (build.name, build.family)]


def _axis(name: str, axis: models.Axis, sweep: Map, problems: Problems) -> Iterator[Axis]:
    where = sweep.at[name]
    nodes = sweep[name]
    assert isinstance(nodes, Map)
    if axis.from_ is not None and axis.steps is not None:
        problems.add("axis-form", where, f"axis `{name}` has both `from` and `steps`", "keep one", len(name))
    _check_name(name, axis, where, problems)
    if "values" in nodes.at and "values" not in nodes:
        return  # they were of a wrong type, which is said
    before = len(problems.errors)
    others = (each for each in sweep if each != name)
    points = tuple(of_axis(name, axis, nodes, where, problems, others))
    if points:
        yield Axis(name, where, points, axis.from_, axis.steps)
    elif len(problems.errors) == before:
        problems.add("empty-axis", where, f"axis `{name}` has no points", width=len(name))


def _check_name(name: str, axis: models.Axis, where: Location, problems: Problems) -> None:
    """An axis is a name in expressions. `storage_engine` stays what it is: the param of that name."""
    machines = any(point.hardware is not None for point in [*(axis.points or {}).values(), *axis.groups])
    meant = {"build", "storage_engine"} | ({"hardware"} if machines else set())
    if name in RESERVED - meant:
        message = f"`{name}` means something else in expressions: an axis needs another name"
        hint = "its points may still say `hardware: …`" if name == "hardware" else ""
        problems.add("reserved-name", where, message, hint, len(name))


def _conflicts(axes: Sequence[Axis], sets: Mapping[str, models.OptionSet], problems: Problems) -> None:
    setters: dict[tuple[str, str], Axis] = {}
    for axis in axes:
        for kind, names in (("option", _options(axis, sets)), ("param", _params(axis))):
            for name in sorted(names):
                first = setters.setdefault((kind, name), axis)
                if first is not axis:
                    message = f"the axes `{first.name}` and `{axis.name}` both set the {kind} `{name}`"
                    problems.add("axes-conflict", axis.where, message, "one axis may set it", len(axis.name))


def _check_builds(axes: Sequence[Axis], sweep: Mapping[str, models.Axis], problems: Problems) -> None:
    """A point may name a build where nothing else chooses one."""
    naming = [axis for axis in axes if any(point.build is not None for point in axis.points)]
    listed = "build" in sweep and sweep["build"].builds is not None
    choosing = ["build"] if listed else [axis.name for axis in naming[:1]]
    for axis in naming if listed else naming[1:]:
        message = f"the axes `{choosing[0]}` and `{axis.name}` both choose the build"
        problems.add("axes-conflict", axis.where, message, "one axis may set it", len(axis.name))


def _options(axis: Axis, sets: Mapping[str, models.OptionSet]) -> set[str]:
    return {name for point in axis.points for layer in point.options for name in _names(layer, sets)}


def _names(layer: Any, sets: Mapping[str, models.OptionSet]) -> set[str]:
    if isinstance(layer, Map):
        inner = layer.get("options")
        return set(inner) if isinstance(inner, Map) else set(layer)
    found: set[str] = set()
    above = sets.get(layer) if isinstance(layer, Text) else None
    while above is not None and not above.options.keys() <= found:
        found |= above.options.keys()
        above = sets.get(above.extends) if above.extends is not None else None
    return found


def _params(axis: Axis) -> set[str]:
    return {name for point in axis.points for name in point.params or ()}
