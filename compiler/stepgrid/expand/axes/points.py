"""The points of an axis, in each of its forms: named, values of an option or a param, generated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepgrid.language import expressions, models, scalars
from stepgrid.language.expressions import ExpressionError
from stepgrid.language.problems import Location, Problems, close_names, nearest
from stepgrid.language.yaml import Map, Text, node_location

UNLABELLED = "?"  # what the label of a point begins with that has none
RESERVED = frozenset({"params", "options", "hardware", "build", "engine", "storage_engine", "version", "has", "step"})


@dataclass(frozen=True, slots=True, eq=False)  # a point is itself: choices are told apart by their points
class Point:
    """A patch with a label."""

    label: str
    where: Location
    options: tuple[Any, ...] = ()
    params: Mapping[str, Any] | None = None
    build: Text | None = None
    when: Text | None = None
    hardware: Any = None  # a name, or a machine described in place
    launch: models.Launch | None = None
    start: str | None = None
    unsupported: str = "cell"  # what an option that the binary lacks makes of the cell
    variables: Mapping[str, Any] = field(default_factory=dict)  # of a generated point: what it was made of


def of_axis(
    name: str, axis: models.Axis, nodes: Map, where: Location, problems: Problems, others: Iterable[str] = ()
) -> Iterator[Point]:
    named = axis.points is not None or bool(axis.groups)
    forms = [named, axis.option is not None, axis.param is not None]
    if sum(forms) != 1 or (axis.values is None) != named:
        message = f"axis `{name}` must be of one form"
        hint = "a map of points, `{option: NAME, values: […]}`, `{param: NAME, values: […]}` or a list of values"
        close = [] if any(forms) else close_names(name, list(others))  # a scale's, which misspells it
        problems.add("axis-form", where, message, f"did you mean `{close[0]}`?" if close else hint, len(name))
    elif named:
        yield from _named(axis, nodes, problems)
    else:
        yield from _values(axis, problems)


def _named(axis: models.Axis, nodes: Map, problems: Problems) -> Iterator[Point]:
    listed = nodes.get("points")
    at = listed.at if isinstance(listed, Map) else {}
    seen: dict[str, Location] = {}
    found = [_point(label, at[label], point) for label, point in (axis.points or {}).items()]
    found += [point for group in axis.groups for point in _generated(group, problems)]
    for point in found:
        if point.label in seen:
            message = f"two points of the axis are named `{point.label}`"
            problems.add("point-twice", point.where, message, f"first at {seen[point.label]}")
        else:
            seen[point.label] = point.where
            yield point


def _point(label: str, where: Location, said: models.Point, variables: Mapping[str, Any] | None = None) -> Point:
    return Point(
        label, where, said.options, said.params, said.build, said.when, said.hardware, said.launch, said.start,
        said.when_unsupported or "cell", variables or {},
    )  # fmt: skip


def _generated(group: models.Group, problems: Problems) -> Iterator[Point]:
    """A label that cannot be told is reported; the point stands, so that no follow-up of it is."""
    if group.as_ in RESERVED:
        message = f"`{group.as_}` means something else in expressions"
        problems.add("reserved-name", group.as_.where, message, "choose another name for `as`", len(group.as_))
        return
    for number, each in enumerate(group.values):
        variables = {str(group.as_): _typed(each)}
        label = _rendered(group, variables, problems) or f"{UNLABELLED}{number}"
        yield _point(label, node_location(each, group.name.where), group, variables)


def _rendered(group: models.Group, variables: Mapping[str, Any], problems: Problems) -> str:
    try:
        return str(expressions.render(group.name, variables))
    except ExpressionError as error:
        code = "undefined-name" if error.name else "expression"
        hint = error.hint or nearest(error.name, parts_of(variables))
        problems.add(code, group.name.where, str(error), hint, len(group.name))
        return ""


def parts_of(variables: Mapping[str, Any]) -> list[str]:
    """Variables as expressions name them: of a map, its keys."""
    found = ([f"{name}.{key}" for key in value] if isinstance(value, Map | dict) else [name]
             for name, value in variables.items())  # fmt: skip
    return [each for names in found for each in names]


def _typed(each: Any) -> Any:
    if isinstance(each, Text):
        return scalars.param_value(each, each.quoted)
    if isinstance(each, Map):
        return {key: _typed(value) for key, value in each.items()}
    return each


def _values(axis: models.Axis, problems: Problems) -> Iterator[Point]:
    seen: set[str] = set()
    for value in axis.values or ():
        if value in seen:
            problems.add("point-twice", value.where, f"the value `{value}` is given twice", width=len(value))
            continue
        seen.add(value)
        if axis.option is not None:
            said = Map({str(axis.option): value}, value.where, {str(axis.option): axis.option.where})
            yield Point(str(value), value.where, options=(said,))
        else:
            yield Point(str(value), value.where, params={str(axis.param): value})
