"""What the steps of a plan do: kind and settings of each, without those that are as usual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepgrid.model.plan import FILES, Axis, PlannedStep
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plan.difference import input_text
from stepgrid.plan.difference.stage_difference import Link
from stepgrid.plugins import drivers
from stepgrid.plugins.registry import PluginError

MOST = 3  # values of a setting that are named

Values = dict[str, dict[str, Any]]  # setting -> each value that it has somewhere


@dataclass(frozen=True, slots=True)
class StepSettings:
    name: str
    kind: str
    said: str  # duration 60; threads 1, 2 or 4


def step_settings(
    header: Mapping[str, Any], axes: Sequence[Axis], links: Callable[[Sequence[str]], list[Link]]
) -> list[StepSettings]:
    """In the order in which they run. `links`: of a chain of stages."""
    found: dict[tuple[str, str], Values] = {}
    for cell in _some(header["cells"], axes):
        for step in _steps(links(cell["repeats"][0]["stages"])):
            known = found.setdefault((step.name, step.kind), {})
            for name, value in step.settings.items():
                known.setdefault(name, {})[repr(value)] = value
    return [StepSettings(name, kind, "; ".join(_said(kind, known))) for (name, kind), known in found.items()]


def table(found: Sequence[StepSettings]) -> Table:
    rows = tuple((Cell(each.name), Cell(each.kind), Cell(each.said)) for each in found)
    return Table("what the steps do", columns((), ("step", "kind", "settings")), rows)


def _some(cells: Sequence[Mapping[str, Any]], axes: Sequence[Axis]) -> list[Mapping[str, Any]]:
    """The first of each label: all that the axes change is in them."""
    found = {}
    for cell in reversed(cells):
        found.update({(axis.name, cell["labels"].get(axis.name)): cell for axis in axes})
    chosen = {each["id"] for each in found.values()} or {cell["id"] for cell in cells[:1]}
    return [cell for cell in cells if cell["id"] in chosen]


def _steps(chain: Sequence[Link]) -> Iterator[PlannedStep]:
    yield from (step for link in chain for step in link.stage.steps)


def _said(kind: str, known: Values) -> Iterator[str]:
    """Settings that are not the kind's own defaults; files are long, and the page has the commands."""
    usual = _defaults(kind)
    for name, values in known.items():
        told = [value for value in values.values() if value not in (None, [], "")]
        if name != FILES and any(value != usual.get(name) for value in told):
            shown = [input_text.value(value, input_text.may_be_size(name)) for value in told[:MOST]]
            more = [f"{len(told) - MOST} more"] if len(told) > MOST else []
            yield f"{name} {' or '.join([*shown, *more])}"


def _defaults(kind: str) -> Mapping[str, Any]:
    try:
        fields = drivers.driver(kind).settings_model().model_fields
    except PluginError:  # it is not installed here
        return {}
    return {name: field.get_default(call_default_factory=True) for name, field in fields.items()}
