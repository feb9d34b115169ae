"""Beside the differences of a report: what their builds differ in, and what they used more or less of, ranked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stepgrid.model import units
from stepgrid.model.plan import BUILD
from stepgrid.model.table import MOST_ROWS, Cell, Column, Table
from stepgrid.model.units import counted
from stepgrid.summarize.comparisons.causes import NO_CAUSE, Growth, cause_texts, counter_changes
from stepgrid.summarize.comparisons.comparison import Case, Comparison, Entry
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.report import Report

TITLE = "why"


@dataclass(frozen=True, slots=True)
class _Difference:
    """An arm at a place, faster or slower than its base."""

    compared: Comparison
    case: Case

    @property
    def entry(self) -> Entry:
        return self.case.entry

    @property
    def points(self) -> tuple[Point | None, Point | None]:
        return self.case.point, self.case.base

    @property
    def times(self) -> float:
        return max(self.entry.ratio or 1.0, 1 / (self.entry.ratio or 1.0))


def table(report: Report, found: Comparison) -> Table | None:
    """A row for each difference, the largest first; of the first ones also what the engine counted."""
    every = sorted(_differences(found), key=lambda each: -each.times)
    if not every:
        return None
    heads = ("step", *found.layout.down, "arm", "ratio", TITLE)
    columns = tuple(Column(name, label=True) for name in heads)
    title = f"{TITLE}: differences from {found.base}"
    changes = _changes(report, every[:MOST_ROWS])
    rows = (tuple(map(Cell, _row(report, found, each, changes))) for each in every)
    return Table(title, columns, tuple(rows))


def short(report: Report, found: Comparison) -> Table | None:
    """No longer than anybody reads."""
    whole = table(report, found)
    if whole is None or len(whole.rows) <= MOST_ROWS:
        return whole
    more = f'and {counted(len(whole.rows) - MOST_ROWS, "difference")} more: `--table "{whole.title}"`'
    return replace(whole, rows=whole.rows[:MOST_ROWS], notes=(more,))


def _differences(found: Comparison) -> Iterator[_Difference]:
    for case in found.cases():
        if case.entry.is_difference and case.entry.ratio:
            yield _Difference(found, case)


def _changes(report: Report, some: Sequence[_Difference]) -> Growth:
    points = [point for each in some for point in each.points if point]
    return report.data.details.counters({place for point in points for place in point.places})


def _row(report: Report, found: Comparison, each: _Difference, changes: Growth) -> Iterator[str]:
    yield each.case.row.step
    yield from (label or "-" for label in each.case.row.labels)
    yield found.arm_name(each.case.arm)
    yield units.times(each.entry.ratio or 1.0)
    arm, base = each.points
    counters = counter_changes(changes, arm, base) if arm and base else []
    yield "; ".join((*(of(report, each.compared, each.case) or [NO_CAUSE]), *counters))


def of(report: Report, compared: Comparison, case: Case) -> list[str]:
    """Few differences of the builds come first: one default that changed is what the figures follow from."""
    return cause_texts(case.point, case.base, list(_builds(report, compared, case.entry)))


def _builds(report: Report, compared: Comparison, entry: Entry) -> Iterator[str]:
    """Patches, and defaults of options that the spec leaves to the builds."""
    if BUILD not in compared.layout.across or entry.point is None:
        return
    run = entry.point.runs[0]
    if run.build_id in report.setup.builds:
        yield from (f"patch {name}" for name in report.setup.builds[run.build_id].patches)
    based = dict(zip(compared.layout.across, compared.arms[0], strict=True)).get(BUILD)
    if report.setup.defaults and based == report.setup.defaults.base:
        changes = report.setup.defaults.changes(run.build)
        yield from (f"default {change}" for change in changes)
