"""What one entry of `steps` stands for: its live grid, its repetitions and their warm-ups, in the order they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from stepgrid.expand.axes.points import RESERVED
from stepgrid.expand.step_entry import UNKNOWN, Checkpoint, StepEntry
from stepgrid.expand.steps import axis_searches
from stepgrid.language.models import Search, Step
from stepgrid.language.problems import Location, Problems
from stepgrid.language.yaml import Map, Text, key_location
from stepgrid.model.search import AxisSearch
from stepgrid.plugins.registry import driver

MOST_STEPS = 1000  # that one may stand for
DURATION, WARMUP = "duration", "warmup"

Grid = Mapping[str, Sequence[Text]]


def written_out(item: StepEntry, problems: Problems) -> Iterator[StepEntry | Checkpoint]:
    said = next((link.for_ for link in reversed(item.links) if link.for_ is not None), {})
    searches = _searches(said, problems)
    grid = _grid(item, said, searches, problems)
    times = next((link.times for link in reversed(item.links) if link.times is not None), 0)
    if not _is_sound(item, grid, max(times, 1), problems):
        yield Checkpoint(UNKNOWN, item.position, item.where)
        return
    warmup = _warmup(item, problems)
    for values in product(*(dict.fromkeys(values) for values in grid.values())):
        one = _bound(item, dict(zip(grid, values, strict=True)), searches)
        for ending in [f".{n + 1}" for n in range(times)] or [""]:
            step = replace(one, name=one.name + ending, shown=one.base + ending)
            if warmup is not None:
                yield _warming(step, warmup)
            yield step


def _grid(
    item: StepEntry,
    said: Mapping[str, Search | Sequence[Text]],
    searches: Mapping[str, AxisSearch],
    problems: Problems,
) -> Grid:
    """A search that is wrong has no points."""
    found: dict[str, Sequence[Text]] = {}
    for name, values in said.items():
        if not isinstance(values, Search):
            found[name] = values
        elif name in searches:
            found[name] = _numbered(searches[name], values)
    if len(searches) > 1:
        message = f"step `{item.name}` searches on {len(searches)} axes: one at a time"
        problems.add("search-form", item.where, message, "give the others values", len(item.name))
    return found


def _searches(grid: Mapping[str, Search | Sequence[Text]], problems: Problems) -> dict[str, AxisSearch]:
    found = {name: axis_searches.read(name, said, problems) for name, said in grid.items() if isinstance(said, Search)}
    return {name: search for name, search in found.items() if search is not None}


def _numbered(search: AxisSearch, said: Search) -> Sequence[Text]:
    """The points of a search, by their numbers."""
    return [Text(f"#{number + 1}", said.for_.where) for number in range(search.points)]


def _is_sound(item: StepEntry, grid: Grid, times: int, problems: Problems) -> bool:
    count = prod(len(values) for values in grid.values()) * times
    if count > MOST_STEPS:
        message = f"step `{item.name}` would be {count:,} steps: more than {MOST_STEPS:,}"
        problems.add("too-large", item.where, message, "`for` has a step for each combination", len(item.name))
        return False
    _check_variables(item, grid, problems)
    _check_twice(grid, problems)
    return all(grid.values()) and not RESERVED & grid.keys()


def _check_variables(item: StepEntry, grid: Grid, problems: Problems) -> None:
    for link in item.links:
        for name in link.for_ or {}:
            where = _places(link).get(name, item.where)
            if not grid.get(name, True):
                problems.add("empty-axis", where, f"`for` has no values of `{name}`", width=len(name))
            if name in RESERVED:
                message = f"`{name}` means something else in expressions"
                problems.add("reserved-name", where, message, "choose another name for the variable", len(name))
            if name in {**link.params, **(link.model_extra or {})}:
                message, hint = f"`{name}` is a variable of `for`, and given beside it", "keep one"
                problems.add("not-both", _own_place(link, name, where), message, hint, len(name))


def _places(link: Step) -> Mapping[str, Location]:
    """Where the variables of its grid stand."""
    grid = link.node("for")
    return grid.at if isinstance(grid, Map) else {}


def _own_place(link: Step, name: str, default: Location) -> Location:
    given = {**link.params, **(link.model_extra or {})}
    return key_location(given[name], default)


def _check_twice(grid: Grid, problems: Problems) -> None:
    for values in grid.values():
        for position, value in enumerate(values):
            if value in values[:position]:
                problems.add("point-twice", value.where, f"the value `{value}` is given twice", width=len(value))


def _bound(item: StepEntry, variables: Mapping[str, Text], searches: Mapping[str, AxisSearch]) -> StepEntry:
    if not variables:
        return item
    name = f"{item.name}[{','.join(f'{variable}={value}' for variable, value in variables.items())}]"
    given = {name: value for name, value in variables.items() if name not in searches}
    bound = replace(item, name=name, variables=variables, links=(*item.links, Step.model_validate(given)))
    for variable, search in searches.items():
        point = variables[variable]
        link = Step.model_validate(axis_searches.lowest(item.kind, search, point.where))
        numbered = replace(search, number=int(point.removeprefix("#")))
        bound = replace(bound, search=numbered, search_at=point.where, links=(*bound.links, link))
    return bound


def _warmup(item: StepEntry, problems: Problems) -> Text | None:
    """How long each run is warmed up for."""
    said = next((link for link in reversed(item.links) if link.warmup is not None), None)
    node = said.node(WARMUP) if said is not None else None
    if not isinstance(node, Text):
        return None
    if DURATION not in driver(item.kind).settings_model().model_fields:
        message = f"a step of kind {item.kind} has no `duration`, so no `{WARMUP}`"
        problems.add("unknown-setting", key_location(node, node.where), message, width=len(WARMUP))
        return None
    return node


def _warming(step: StepEntry, duration: Text) -> StepEntry:
    """The same, not measured, for so long: on what is measured after it nothing else was done."""
    said = Step.model_validate({DURATION: duration, "measured": Text("false", duration.where)})
    name, base = f"{step.name}.{WARMUP}", f"{step.base}.{WARMUP}"
    return replace(step, name=name, base=base, shown=f"{step.shown}.{WARMUP}", links=(*step.links, said))
