"""The searches of a plan, once each, for who reports them or says how long they are. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stepgrid.model.plan import Json, PlannedCell, PlannedStep
from stepgrid.model.search import SIZED, AxisSearch
from stepgrid.model.units import exact_size


def searches(cells: Iterable[PlannedCell], steps: Mapping[str, tuple[PlannedStep, ...]]) -> Iterator[dict[str, Json]]:
    """`steps`: of each stage, by its id."""
    seen: set[tuple[str, str]] = set()
    for cell in cells:
        chain = cell.repeats[0].stages
        for each in cell.steps:
            if not each.measured or not each.variables:
                continue
            search = AxisSearch.of(steps[chain[each.stage]][each.index].setup)
            if search is not None and (each.step, search.variable) not in seen:
                seen.add((each.step, search.variable))
                said = {name: value for name, value in search.to_json().items() if name != "number"}
                yield {"step": each.step, **said}


def words(search: Mapping[str, Json]) -> str:
    """writes: rate from 1 MiB to 512 MiB, 9 points of each load, for `max rate where …`."""
    sized = str(search["param"]).endswith(SIZED)
    low, high = (exact_size(int(str(search[end]))) if sized else str(search[end]) for end in ("least", "most"))
    ends = f"{search['variable']} from {low} to {high}"
    return f"{search['step']}: {ends}, {search['points']} points of each load, for `{search['for']}`"
