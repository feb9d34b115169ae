"""What searches on an axis found: a row for each combination of the other axes, and the curve of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median_low

from stepgrid.collect.step_figures import HOLDS
from stepgrid.model import units
from stepgrid.model.search import SIZED
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.summarize.data.searches import Searched, SearchedAxis, mean


def tables(found: Sequence[Searched]) -> Iterator[Table]:
    for axis in dict.fromkeys(each.axis for each in found):
        own = [each for each in found if each.axis is axis]
        yield _answer(axis, own)
        yield from (_curve(each) for each in own if each.loads)


def title(axis: SearchedAxis) -> str:
    return f"{axis.step}: {axis.text}"


def _answer(axis: SearchedAxis, found: Sequence[Searched]) -> Table:
    names = list(dict.fromkeys(name for each in found for name in each.labels))
    heads = _heads(axis)
    rows = tuple(
        (*(Cell(each.labels.get(name, NOTHING)) for name in names), *map(Cell, _texts(each))) for each in found
    )
    columns = (*(Column(name, label=True) for name in names), *map(Column, heads))
    return Table(title(axis), columns, rows, notes=(_meaning(axis),))


def _heads(axis: SearchedAxis) -> tuple[str, ...]:
    if axis.is_boundary:
        return f"{axis.variable} that holds", "lowest-highest", "fails from", "loads"
    return f"best {axis.variable}", "lowest-highest", axis.objective.name, "knee", "loads"


def _texts(found: Searched) -> tuple[str, ...]:
    show = len(found.loads)
    middle, ends = _middle(found.axis, found.found), _ends(found.axis, found.found)
    if found.axis.is_boundary:
        return middle, ends, _middle(found.axis, found.beyond), str(show)
    figure = NOTHING if found.best is None else units.figure(found.best)
    return middle, ends, figure, _middle(found.axis, found.knees), str(show)


def _meaning(axis: SearchedAxis) -> str:
    if axis.is_boundary:
        return (
            "medians of the loads: the largest value that more probably holds than not, and the next one that was tried"
        )
    return "medians of the loads; knee: the smallest value with 95 % of the best figure"


def _curve(found: Searched) -> Table:
    axis = found.axis
    heads = (Column(axis.variable, label=True), Column("tries"), Column("holds"), *map(Column, axis.figures))
    rows = []
    for value, runs in found.curve():
        held = sum(run.metrics.get(HOLDS) == 1.0 for run in runs)
        figures = [_figure(mean(runs, name)) for name in axis.figures]
        rows.append(tuple(map(Cell, (shown(axis, value), str(len(runs)), str(held), *figures))))
    block = ", ".join(found.labels.values())
    return Table(f"{title(axis)}: tried", heads, tuple(rows), block)


def _figure(value: float | None) -> str:
    return NOTHING if value is None else units.figure(value)


def _middle(axis: SearchedAxis, values: Sequence[int]) -> str:
    return shown(axis, median_low(values)) if values else NOTHING


def _ends(axis: SearchedAxis, values: Sequence[int]) -> str:
    return f"{shown(axis, min(values))}-{shown(axis, max(values))}" if len(set(values)) > 1 else NOTHING


def shown(axis: SearchedAxis, value: float) -> str:
    return units.size(value) if axis.param.endswith(SIZED) else f"{value:,.4g}"
