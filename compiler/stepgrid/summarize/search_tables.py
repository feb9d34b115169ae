"""Tables of searches on an axis: the answer of each combination of the other axes, and the values tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median_low

from stepgrid.collect.step_figures import HOLDS
from stepgrid.model import units
from stepgrid.model.search import SIZED
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.summarize.data.searches import Search, SearchedAxis, mean

_BOUNDARY_NOTE = (
    "medians of the loads: the largest value that more probably holds than not, and the next one that was tried"
)
_BEST_NOTE = "medians of the loads; knee: the smallest value with 95 % of the best figure"


def tables(searches: Sequence[Search]) -> Iterator[Table]:
    for axis in dict.fromkeys(search.axis for search in searches):
        members = [search for search in searches if search.axis is axis]
        yield _answers(axis, members)
        yield from (_curve(search) for search in members if search.loads)


def title(axis: SearchedAxis) -> str:
    return f"{axis.step}: {axis.text}"


def shown(axis: SearchedAxis, value: float) -> str:
    return units.size(value) if axis.param.endswith(SIZED) else f"{value:,.4g}"


def _answers(axis: SearchedAxis, searches: Sequence[Search]) -> Table:
    if axis.is_boundary:
        heads = [f"{axis.variable} that holds", "lowest-highest", "fails from", "loads"]
    else:
        heads = [f"best {axis.variable}", "lowest-highest", axis.objective.name, "knee", "loads"]
    names = list(dict.fromkeys(name for search in searches for name in search.labels))
    rows = []
    for search in searches:
        texts = [_median(axis, search.answers), _ends(axis, search.answers)]
        if axis.is_boundary:
            texts.append(_median(axis, search.failing))
        else:
            texts += [_figure(search.best), _median(axis, search.knees)]
        labels = [search.labels.get(name, NOTHING) for name in names]
        rows.append(tuple(map(Cell, (*labels, *texts, str(len(search.loads))))))
    columns = (*(Column(name, label=True) for name in names), *map(Column, heads))
    return Table(title(axis), columns, tuple(rows), notes=(_BOUNDARY_NOTE if axis.is_boundary else _BEST_NOTE,))


def _curve(search: Search) -> Table:
    axis = search.axis
    heads = (Column(axis.variable, label=True), Column("tries"), Column("holds"), *map(Column, axis.figures))
    rows = []
    for value, runs in search.curve():
        holding = sum(run.metrics.get(HOLDS) == 1.0 for run in runs)
        figures = [_figure(mean(runs, name)) for name in axis.figures]
        rows.append(tuple(map(Cell, (shown(axis, value), str(len(runs)), str(holding), *figures))))
    return Table(f"{title(axis)}: tried", heads, tuple(rows), ", ".join(search.labels.values()))


def _figure(value: float | None) -> str:
    return NOTHING if value is None else units.figure(value)


def _median(axis: SearchedAxis, values: Sequence[int]) -> str:
    return shown(axis, median_low(values)) if values else NOTHING


def _ends(axis: SearchedAxis, values: Sequence[int]) -> str:
    return f"{shown(axis, min(values))}-{shown(axis, max(values))}" if len(set(values)) > 1 else NOTHING
