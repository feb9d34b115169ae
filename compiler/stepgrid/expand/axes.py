"""Axes of the sweep: named points, each a patch; and the choice of a build and points that becomes a cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from stepgrid.expand.builds import Build, builds_named
from stepgrid.language import expressions, models, scalars
from stepgrid.language.expressions import ExpressionError
from stepgrid.language.problems import Location, Problems, close_names, nearest
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import Map, Text, node_location
from stepgrid.model.plan import BUILD

UNLABELLED = "?"  # first character of the label of a point whose label has a fault
RESERVED = frozenset({"params", "options", "hardware", BUILD, "engine", "storage_engine", "version", "has", "step"})


class Point(Struct, frozen=True, eq=False):  # a point is itself: choices are told apart by their points
    """A patch with a label."""

    label: str
    where: Location
    options: tuple[Any, ...] = ()
    params: Mapping[str, object] | None = None
    build: Text | None = None
    when: Text | None = None
    hardware: Any = None  # a name, or a machine described in place
    launch: models.Launch | None = None
    start: str | None = None
    unsupported: str = "cell"  # what an option that the binary lacks makes of the cell
    variables: Mapping[str, object] = {}  # of a generated point: what it was made of


class Axis(NamedTuple):
    name: str
    where: Location
    points: tuple[Point, ...]
    start: Text | None = None  # changes what comes after this checkpoint
    steps: tuple[Text, ...] | None = None  # changes these steps


class Choice(NamedTuple):
    """A build and at most one point of each axis."""

    build: Build
    points: tuple[Point | None, ...]  # one per axis, in the axes' order; None where `also` left an axis out

    def on(self, axes: Iterable[int]) -> list[Point]:
        return [point for axis in axes if (point := self.points[axis]) is not None]


def resolve(document: Document, sets: Mapping[str, models.OptionSet], problems: Problems) -> list[Axis]:
    """List the axes of the spec, except the one that lists builds."""
    sweep = document.nodes.get("sweep")
    axes: list[Axis] = []
    for name, model in document.spec.sweep.items():
        assert isinstance(sweep, Map)
        if model.builds is None and (axis := _resolve_axis(name, model, sweep, problems)) is not None:
            axes.append(axis)
    _check_conflicts(axes, sets, problems)
    _check_builds(axes, document.spec.sweep, problems)
    return axes


def chosen_builds(document: Document, builds: Sequence[Build], problems: Problems) -> list[Build]:
    """List the builds of the build axis: all, or those that `sweep.build` names by family or by name."""
    axis = document.spec.sweep.get(BUILD)
    if axis is None or axis.builds is None:
        return list(builds)
    sweep, chosen = document.nodes["sweep"], dict[str, Build]()
    if not axis.builds and isinstance(sweep, Map):
        problems.add("empty-axis", sweep.at[BUILD], "axis `build` has no points", width=len(BUILD))
    for name in axis.builds:
        matches = builds_named(name, builds)
        if not matches:
            problems.undefined(BUILD, name, name.where, [key for b in builds for key in (b.name, b.family)])
        chosen.update({build.name: build for build in matches})
    return list(chosen.values())


def _resolve_axis(name: str, model: models.SpecAxis, sweep: Map, problems: Problems) -> Axis | None:
    where, nodes = sweep.at[name], sweep[name]
    assert isinstance(nodes, Map)
    if model.from_ is not None and model.steps is not None:
        problems.add("axis-form", where, f"axis `{name}` has both `from` and `steps`", "keep one", len(name))
    _check_name(name, model, where, problems)
    if "values" in nodes.at and "values" not in nodes:
        return None  # they were of a wrong type, which is reported
    errors_before = len(problems.errors)
    if _has_one_form(name, model, [axis for axis in sweep if axis != name], where, problems):
        points = tuple(_value_points(model, problems) if model.values is not None else _points(model, nodes, problems))
        if points:
            return Axis(name, where, points, model.from_, model.steps)
    if len(problems.errors) == errors_before:
        problems.add("empty-axis", where, f"axis `{name}` has no points", width=len(name))
    return None


def _check_name(name: str, model: models.SpecAxis, where: Location, problems: Problems) -> None:
    """Check that the name of an axis is free in expressions; `storage_engine` stays the param of that name."""
    has_machines = any(point.hardware is not None for point in [*(model.points or {}).values(), *model.groups])
    if name in RESERVED - {BUILD, "storage_engine", *(["hardware"] if has_machines else [])}:
        message = f"`{name}` means something else in expressions: an axis needs another name"
        hint = "its points may still say `hardware: …`" if name == "hardware" else ""
        problems.add("reserved-name", where, message, hint, len(name))


def _has_one_form(
    name: str, model: models.SpecAxis, axis_names: Sequence[str], where: Location, problems: Problems
) -> bool:
    has_points = model.points is not None or bool(model.groups)
    forms = [has_points, model.option is not None, model.param is not None]
    if sum(forms) == 1 and (model.values is None) == has_points:
        return True
    message = f"axis `{name}` must be of one form"
    hint = "a map of points, `{option: NAME, values: […]}`, `{param: NAME, values: […]}` or a list of values"
    close = [] if any(forms) else close_names(name, axis_names)  # a scale's axis, which misspells it
    problems.add("axis-form", where, message, f"did you mean `{close[0]}`?" if close else hint, len(name))
    return False


def _points(model: models.SpecAxis, nodes: Map, problems: Problems) -> Iterator[Point]:
    """List the points of a map, then those of generated groups."""
    table = nodes.get("points")
    at = table.at if isinstance(table, Map) else {}
    points = [_point(label, at[label], point) for label, point in (model.points or {}).items()]
    points += [point for group in model.groups for point in _generate_points(group, problems)]
    seen_at: dict[str, Location] = {}
    for point in points:
        if point.label in seen_at:
            message = f"two points of the axis are named `{point.label}`"
            problems.add("point-twice", point.where, message, f"first at {seen_at[point.label]}")
        else:
            seen_at[point.label] = point.where
            yield point


def _point(
    label: str, where: Location, model: models.SpecPoint, variables: Mapping[str, object] | None = None
) -> Point:
    return Point(
        label, where, model.options, model.params, model.build, model.when, model.hardware, model.launch, model.start,
        model.when_unsupported or "cell", variables or {},
    )  # fmt: skip


def _generate_points(group: models.PointGroup, problems: Problems) -> Iterator[Point]:
    """Report an unusable label but keep the point, to avoid follow-up errors."""
    if group.as_ in RESERVED:
        message = f"`{group.as_}` means something else in expressions"
        problems.add("reserved-name", group.as_.where, message, "choose another name for `as`", len(group.as_))
        return
    for number, value in enumerate(group.values):
        variables = {str(group.as_): _native_value(value)}
        label = _render_label(group, variables, problems) or f"{UNLABELLED}{number}"
        yield _point(label, node_location(value, group.name.where), group, variables)


def _native_value(node: Any) -> Any:
    if isinstance(node, Text):
        return scalars.param_value(node, node.quoted)
    return {key: _native_value(value) for key, value in node.items()} if isinstance(node, Map) else node


def _render_label(group: models.PointGroup, variables: Mapping[str, object], problems: Problems) -> str:
    try:
        return str(expressions.render(group.name, variables))
    except ExpressionError as error:
        code = "undefined-name" if error.name else "expression"
        names = [
            part
            for name, value in variables.items()
            for part in ([f"{name}.{key}" for key in value] if isinstance(value, dict) else [name])
        ]
        problems.add(code, group.name.where, str(error), error.hint or nearest(error.name, names), len(group.name))
        return ""


def _value_points(model: models.SpecAxis, problems: Problems) -> Iterator[Point]:
    """Make a point of each value of an option or a param."""
    labels: set[str] = set()
    for value in model.values or ():
        if value in labels:
            problems.add("point-twice", value.where, f"the value `{value}` is given twice", width=len(value))
        elif model.option is not None:
            name = str(model.option)
            yield Point(str(value), value.where, options=(Map({name: value}, value.where, {name: model.option.where}),))
        else:
            yield Point(str(value), value.where, params={str(model.param): value})
        labels.add(value)


# Conflicts between axes


def _check_conflicts(axes: Sequence[Axis], sets: Mapping[str, models.OptionSet], problems: Problems) -> None:
    setters: dict[tuple[str, str], Axis] = {}
    for axis in axes:
        options = {name for point in axis.points for layer in point.options for name in _option_names(layer, sets)}
        params = {name for point in axis.points for name in point.params or ()}
        for kind, names in (("option", options), ("param", params)):
            for name in sorted(names):
                first = setters.setdefault((kind, name), axis)
                if first is not axis:
                    _report_conflict(first.name, axis, f"set the {kind} `{name}`", problems)


def _check_builds(axes: Sequence[Axis], sweep: Mapping[str, models.SpecAxis], problems: Problems) -> None:
    """Check that one axis chooses the build: the listed builds, or an axis whose points name builds."""
    choosing = [axis for axis in axes if any(point.build is not None for point in axis.points)]
    listed = BUILD in sweep and sweep[BUILD].builds is not None
    for axis in choosing if listed else choosing[1:]:
        _report_conflict(BUILD if listed else choosing[0].name, axis, "choose the build", problems)


def _report_conflict(first: str, second: Axis, predicate: str, problems: Problems) -> None:
    message = f"the axes `{first}` and `{second.name}` both {predicate}"
    problems.add("axes-conflict", second.where, message, "one axis may set it", len(second.name))


def _option_names(layer: Any, sets: Mapping[str, models.OptionSet]) -> set[str]:
    """List the options that a layer sets: one in place, or a set with those that it extends."""
    if isinstance(layer, Map):
        options = layer.get("options")
        return set(options) if isinstance(options, Map) else set(layer)
    names: set[str] = set()
    link = sets.get(layer) if isinstance(layer, Text) else None
    while link is not None and not link.options.keys() <= names:
        names |= link.options.keys()
        link = sets.get(link.extends) if link.extends is not None else None
    return names
