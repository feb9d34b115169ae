"""What the steps of a plan do: kind and settings of each, without those that are as usual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepgrid.model import units
from stepgrid.model.plan import FILES, Axis, PlannedCell, PlannedStep
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plan import difference
from stepgrid.plan.difference import Link
from stepgrid.plugins import registry
from stepgrid.plugins.registry import PluginError
from stepgrid.plugins.settings import Quantity
from stepgrid.summarize.data.points import Point

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

UNITS = {"duration": " s", "rate": "/s", "percent": " %"}
MOST_VALUES = 3  # values of a setting that are named
BRIEF = 10  # steps

Values = dict[str, dict[str, Any]]  # setting -> each value that it has somewhere


@dataclass(frozen=True, slots=True)
class StepSettings:
    name: str
    kind: str
    said: str  # duration 60 s; threads 1, 2 or 4
    meaning: tuple[tuple[str, str], ...] = ()  # of these settings, as the kind describes them


def step_settings(
    cells: Sequence[PlannedCell], axes: Sequence[Axis], links: Callable[[Sequence[str]], list[Link]]
) -> list[StepSettings]:
    """In the order in which they run. `links`: of a chain of stages."""
    found: dict[tuple[str, str], Values] = {}
    for cell in telling_cells(cells, axes):
        for step in _steps(links(cell.repeats[0].stages)):
            known = found.setdefault((step.name, step.kind), {})
            for name, value in step.settings.items():
                known.setdefault(name, {})[repr(value)] = value
    return [_step(name, kind, known) for (name, kind), known in found.items()]


def _step(name: str, kind: str, known: Values) -> StepSettings:
    fields = _fields(kind)
    said = dict(_said(fields, known))
    meaning = tuple((each, text) for each in said if each in fields and (text := fields[each].description))
    return StepSettings(name, kind, "; ".join(said.values()), meaning)


def table(found: Sequence[StepSettings], measured: Mapping[str, Sequence[Point]]) -> Table:
    """`measured`: the points of a step."""
    rows = tuple(tuple(map(Cell, (each.name, each.kind, each.said, *_took(measured, each.name)))) for each in found)
    heads = columns((), ("step", "kind", "settings", "a run took", "database after it"))
    return Table("what the steps do", heads, rows, notes=tuple(notes(found)))


def sentences(found: Sequence[StepSettings], measured: Mapping[str, Sequence[Point]]) -> Iterator[str]:
    for each in found:
        said = f"{each.name} ({each.kind}){f': {each.said}' if each.said else ''}"
        took, size = _took(measured, each.name)
        known = [*([f"a run took {took}"] if took else []), *([f"database after it {size}"] if size else [])]
        yield "; ".join((said, *known))
    yield from notes(found)


def notes(found: Sequence[StepSettings]) -> Iterator[str]:
    """What the settings of a kind mean, each once."""
    kinds: dict[str, dict[str, str]] = {}
    for each in found:
        kinds.setdefault(each.kind, {}).update(each.meaning)
    for kind, known in kinds.items():
        if known:
            yield f"{kind}: {'; '.join(f'`{name}`: {text}' for name, text in known.items())}"


def brief(measured: Mapping[str, Sequence[Point]]) -> str:
    """load: 1.92 s to 3.08 s, 465,975 to 473,043 QPS; overwrites: 20 s, …; database of 118 MiB to 301.4 MiB"""
    known = {name: [*filter(None, (_took(measured, name)[0], _rates(points)))] for name, points in measured.items()}
    said = [f"{name}: {', '.join(each)}" for name, each in known.items() if each]
    more = [f"{len(said) - BRIEF} more below"] if len(said) > BRIEF else []
    runs = [run.metrics for points in measured.values() for point in points for run in point.runs]
    size = _range(runs, "database_bytes", units.size)
    return "; ".join((*said[:BRIEF], *more, *([f"database of {size}"] if size else [])))


def _rates(points: Sequence[Point]) -> str:
    """Medians of the arms."""
    found = [spread[0] for point in points if (spread := point.spread())]
    ends = dict.fromkeys(map(units.rate, (min(found), max(found)))) if found else ()
    return f"{' to '.join(ends)} QPS" if ends else ""


def _took(measured: Mapping[str, Sequence[Point]], step: str) -> tuple[str, str]:
    """Seconds, and bytes; nothing of a step that is not measured."""
    runs = [run.metrics for point in measured.get(step, ()) for run in point.runs]
    return _range(runs, "seconds", units.seconds), _range(runs, "database_bytes", units.size)


def _range(runs: Sequence[Mapping[str, float]], metric: str, shown: Callable[[float], str]) -> str:
    found = [metrics[metric] for metrics in runs if metrics.get(metric)]
    return " to ".join(dict.fromkeys(map(shown, (min(found), max(found))))) if found else ""


def telling_cells(cells: Sequence[PlannedCell], axes: Sequence[Axis]) -> list[PlannedCell]:
    """The first of each label: all that the axes change is in them."""
    found = {}
    for cell in reversed(cells):
        found.update({(axis.name, cell.labels.get(axis.name)): cell for axis in axes})
    chosen = {cell.id for cell in found.values()} or {cell.id for cell in cells[:1]}
    return [cell for cell in cells if cell.id in chosen]


def _steps(chain: Sequence[Link]) -> Iterator[PlannedStep]:
    yield from (step for link in chain for step in link.stage.steps)


def _said(fields: Mapping[str, FieldInfo], known: Values) -> Iterator[tuple[str, str]]:
    """Settings that are not the kind's own defaults; files are long, and the page has the commands."""
    for name, values in known.items():
        field = fields.get(name)
        usual = field.get_default(call_default_factory=True) if field else None
        told = [value for value in values.values() if value not in (None, [], "")]
        if name != FILES and any(value != usual for value in told):
            shown = [_value(name, value, field) for value in told[:MOST_VALUES]]
            more = [f"{len(told) - MOST_VALUES} more"] if len(told) > MOST_VALUES else []
            yield name, f"{name} {' or '.join([*shown, *more])}"


def _value(name: str, value: Any, field: FieldInfo | None) -> str:
    """With its unit, where the kind says which it has."""
    kind = next((each.kind for each in (field.metadata if field else ()) if isinstance(each, Quantity)), None)
    unit = UNITS.get(kind or "", "")
    sized = kind in ("size", "rate") if kind else difference.may_be_size(name)
    return f"{difference.value_text(value, sized)}{unit if isinstance(value, int | float) else ''}"


def _fields(kind: str) -> Mapping[str, FieldInfo]:
    try:
        return registry.driver(kind).settings_model().model_fields
    except PluginError:  # it is not installed here
        return {}
