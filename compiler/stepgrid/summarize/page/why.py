"""Beside the differences of a report: what their builds differ in, and what they used more or less of, ranked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stepgrid.model import units
from stepgrid.model.table import MOST_ROWS, Cell, Column, Table
from stepgrid.model.units import counted
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.causes import causes
from stepgrid.summarize.comparisons.comparison import Comparison, Line
from stepgrid.summarize.comparisons.comparison_cell import Entry
from stepgrid.summarize.comparisons.counter_changes import CounterChanges
from stepgrid.summarize.comparisons.overview import Overview
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics.verdicts import DIFFERENCES

MOST_DEFAULTS = 2  # defaults that are named: of more each alone is no cause
NOTHING = "no cause among CPU, device, context switches, misses and stalls"
TITLE = "why"


@dataclass(frozen=True, slots=True)
class _Difference:
    """An arm at a place, faster or slower than its base."""

    compared: Comparison
    line: Line
    index: int

    @property
    def entry(self) -> Entry:
        return self.line.entries[self.index]

    @property
    def points(self) -> tuple[Point | None, Point | None]:
        return self.entry.point, self.line.entries[0].point

    @property
    def times(self) -> float:
        return max(self.entry.ratio or 1.0, 1 / (self.entry.ratio or 1.0))


def table(report: Report, found: Overview) -> Table | None:
    """A row for each difference, the largest first; of the first ones also what the engine counted."""
    every = sorted(_differences(found), key=lambda each: -each.times)
    if not every:
        return None
    heads = ("step", *found.down, "arm", "ratio", TITLE)
    columns = tuple(Column(name, label=True) for name in heads)
    title = f"{TITLE}: differences from {found.base}"
    changes = _changes(report, every[:MOST_ROWS])
    rows = (tuple(map(Cell, _row(report, found, each, changes))) for each in every)
    return Table(title, columns, tuple(rows))


def short(report: Report, found: Overview) -> Table | None:
    """No longer than anybody reads."""
    whole = table(report, found)
    if whole is None or len(whole.rows) <= MOST_ROWS:
        return whole
    more = f'and {counted(len(whole.rows) - MOST_ROWS, "difference")} more: `--table "{whole.title}"`'
    return replace(whole, rows=whole.rows[:MOST_ROWS], notes=(more,))


def _differences(found: Overview) -> Iterator[_Difference]:
    for compared in found.tables:
        for line in compared.lines:
            for index, entry in enumerate(line.entries):
                if entry.verdict in DIFFERENCES and entry.ratio:
                    yield _Difference(compared, line, index)


def _changes(report: Report, some: Sequence[_Difference]) -> CounterChanges:
    points = [point for each in some for point in each.points if point]
    return CounterChanges(report.details.counters({place for point in points for place in point.places}))


def _row(report: Report, found: Overview, each: _Difference, changes: CounterChanges) -> Iterator[str]:
    at = dict(zip(each.compared.layout.down, each.line.labels, strict=True))
    yield each.compared.step
    yield from (at.get(name) or "-" for name in found.down)
    yield comparison_axes.words(each.compared.columns[each.index], each.compared.layout.across)
    yield units.times(each.entry.ratio or 1.0)
    arm, base = each.points
    counters = changes.of(arm, base) if arm and base else []
    yield "; ".join((*(of(report, each.compared, each.line, each.entry) or [NOTHING]), *counters))


def of(report: Report, compared: Comparison, line: Line, entry: Entry) -> list[str]:
    """Few differences of the builds come first: one default that changed is what the figures follow from."""
    base = line.entries[0].point
    if entry.point is None or base is None:
        return []
    named = list(_builds(report, compared, entry))
    inputs = causes(entry.point, base)
    return [*named, *inputs] if len(named) <= MOST_DEFAULTS else [*inputs, _many(named)]


def _many(named: list[str]) -> str:
    return f"{counted(len(named), 'default')} of the builds differ"


def _builds(report: Report, compared: Comparison, entry: Entry) -> Iterator[str]:
    """Patches, and defaults of options that the spec leaves to the builds."""
    if comparison_axes.BUILD not in compared.layout.across or entry.point is None:
        return
    run = entry.point.runs[0]
    if run.build_id in report.builds:
        yield from (f"patch {name}" for name in report.builds[run.build_id].patches)
    based = dict(zip(compared.layout.across, compared.columns[0], strict=True)).get(comparison_axes.BUILD)
    if report.defaults and based == report.defaults.base and run.build in report.defaults.others:
        changes = report.defaults.changes(report.defaults.others.index(run.build))
        yield from (f"default {change}" for change in changes)
