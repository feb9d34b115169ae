"""A report of two sets of results, in which they are the arms and the first is the base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from stepgrid.model.plan import Axis, Header, PlannedCell
from stepgrid.summarize.report import Report, ReportTables, make_report
from stepgrid.summarize.side_by_side import reproduction, what_differs
from stepgrid.summarize.side_by_side.joined_tables import AXIS, joined
from stepgrid.summarize.side_by_side.matching_cells import Chosen, Match, matched
from stepgrid.summarize.side_by_side.result_set import ResultSet

SAME_RUNS = "the same runs on both sides: they reproduce nothing"


def side_by_side(first: ResultSet, second: ResultSet, chosen: Chosen) -> Report:
    """NotComparable says why there is none."""
    match = matched(first.header, second.header, chosen)
    found = make_report(_header(first, second, match), joined(first, second, match), across_hosts=True)
    again = (
        (SAME_RUNS,)
        if _are_same(first, second)
        else reproduction.sentences(found.comparisons.leading, found.setup.effect)
    )
    differs = (*again, *_differs(first, second, match))
    # tables that nobody asked for would say the ratios once more
    notes = replace(found.notes, differs=differs, left_out=tuple(match.left_out))
    return replace(found, notes=notes, tables=ReportTables())


def _are_same(first: ResultSet, second: ResultSet) -> bool:
    """An archive beside the results that it was made of would reproduce them at every point."""
    one, other = ({(run.place, run.attempt) for run in side.tables.runs if run.attempt} for side in (first, second))
    return bool(one and other) and (one <= other or other <= one)


def _differs(first: ResultSet, second: ResultSet, match: Match) -> Iterator[str]:
    yield f"measured: {first.days} -> {second.days}"
    yield from what_differs.sentences(first, second, match)


def _header(first: ResultSet, second: ResultSet, match: Match) -> Header:
    sides = (first.name, second.name)
    cells = [*_cells(first, match.first, match), *_cells(second, match.second, match)]
    return replace(
        second.header,
        title=f"{second.header.title}: {second.name} against {first.name}",
        axes=(Axis(AXIS, sides), *_axes(first, second, match)),
        read_cells=lambda: cells,
        report=replace(second.header.report, base={AXIS: first.name}, tables=(), claims=(), within=None),
        warnings=(),
        machines={},
        until=None,
        searches=(),
    )


def _axes(first: ResultSet, second: ResultSet, match: Match) -> Iterator[Axis]:
    first_axes, second_axes = ({axis.name: axis for axis in side.header.axes} for side in (first, second))
    for name in match.axes:
        one, other = first_axes[name], second_axes[name]
        common = {dict(key).get(name) for key in match.common}
        labels = dict.fromkeys((*other.labels, *one.labels))
        changes_all = one.steps is None or other.steps is None
        steps = None if changes_all else tuple(dict.fromkeys((*(other.steps or ()), *(one.steps or ()))))
        yield Axis(name, tuple(label for label in labels if label in common), steps)


def _cells(side: ResultSet, cells: Mapping[Any, str], match: Match) -> Iterator[PlannedCell]:
    cells_by_id = {cell.id: cell for cell in side.header.cells}
    for key in match.common:
        yield replace(cells_by_id[cells[key]], labels={AXIS: side.name, **dict(key)})
