"""A table of comparisons: every arm of a step against its base, with interval and verdict or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from stepgrid.model.plan import ALPHA, Axis
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, SAME
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison_axes import Labels, Layout
from stepgrid.summarize.comparisons.comparison_cell import BASE, NO_BASE, RATIO, Entry
from stepgrid.summarize.comparisons.comparison_verdict import Evidence, judged
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics import confidence_intervals
from stepgrid.summarize.statistics.confidence_intervals import Interval, Sample
from stepgrid.summarize.statistics.outliers import outliers

__all__ = [
    "BASE",
    "NO_BASE",
    "RATIO",
    "Comparison",
    "Entry",
    "Evidence",
    "Line",
    "compare",
    "judge",
]


At = tuple[int, int]  # line, column


@dataclass(frozen=True, slots=True)
class Line:
    labels: Labels
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    step: str
    layout: Layout
    columns: tuple[Labels, ...]
    lines: tuple[Line, ...]

    @property
    def base(self) -> str:
        return comparison_axes.words(self.columns[0], self.layout.across)

    @property
    def worth_showing(self) -> bool:
        """A step that lies before the base axis has nothing to compare."""
        return any(entry.kind not in (SAME, ABSENT) for line in self.lines for entry in line.entries[1:])


def compare(step: str, form: Layout, axes: Sequence[Axis], points: Sequence[Point]) -> Comparison:
    """Who is compared with whom; `judge` adds intervals and verdicts."""
    columns = comparison_axes.columns(form, axes, points)
    places = {
        (comparison_axes.key(point, form.down), comparison_axes.key(point, form.across)): point for point in points
    }
    lines = []
    for labels in comparison_axes.lines(form, axes, points):
        row = [places.get((labels, column)) for column in columns]
        lines.append(Line(labels, tuple(_entry(point, row[0], index == 0) for index, point in enumerate(row))))
    return _shared(Comparison(step, form, tuple(columns), tuple(lines)))


def _entry(point: Point | None, base: Point | None, is_base: bool) -> Entry:
    if point is None:
        return Entry(ABSENT)
    if point.status != Status.DONE or not point.values():
        return Entry(point.status, point)
    if is_base:
        return Entry(BASE, point)
    if base is not None and point.places == base.places:
        return Entry(SAME, point)
    return Entry(RATIO if base is not None and base.values() else NO_BASE, point)


def _shared(table: Comparison) -> Comparison:
    """A comparison of runs that were compared before in the table is no other one: it counts and is judged once."""
    first: dict[tuple[object, object], tuple[int, int]] = {}
    lines = []
    for row, line in enumerate(table.lines):
        entries = list(line.entries)
        for column, entry in enumerate(entries):
            if entry.kind == RATIO and entry.point and (base := line.entries[0].point):
                known = first.setdefault((entry.point.places, base.places), (row, column))
                if known != (row, column):
                    entries[column] = replace(entry, kind=SAME, same=_apart(table, known, (row, column)))
        lines.append(replace(line, entries=tuple(entries)))
    return replace(table, lines=tuple(lines))


def _apart(table: Comparison, known: tuple[int, int], here: tuple[int, int]) -> str:
    """What a place of the table is called from another one: only what differs."""
    row = comparison_axes.words(table.lines[known[0]].labels, table.layout.down) if known[0] != here[0] else ""
    arm = comparison_axes.words(table.columns[known[1]], table.layout.across) if known[1] != here[1] else ""
    return ", ".join(part for part in (row, arm) if part)


def judge(tables: Sequence[tuple[Comparison, Evidence]], alpha: float = ALPHA) -> list[Comparison]:
    """All tables of a report at once: what one shows of the noise helps the others."""
    samples = [dict(_samples(table)) for table, _ in tables]
    found = confidence_intervals.of_tables([tuple(each.values()) for each in samples], alpha)
    every = zip(tables, samples, found, strict=True)
    return [_judged(table, evidence, each, intervals) for (table, evidence), each, intervals in every]


def _judged(
    table: Comparison, evidence: Evidence, samples: Mapping[At, Sample], intervals: Sequence[Interval | None]
) -> Comparison:
    every = zip(samples, intervals, outliers(list(samples.values())), strict=True)
    found = {at: (interval, odd) for at, interval, odd in every}
    lines = []
    for row, line in enumerate(table.lines):
        entries = list(line.entries)
        for column, point, base in _pairs(line):
            interval, odd = found.get((row, column), (None, ()))
            ratio = confidence_intervals.ratio(samples[row, column]) if (row, column) in samples else None
            entries[column] = judged(
                replace(entries[column], ratio=ratio, interval=interval), point, base, evidence, odd
            )
        lines.append(replace(line, entries=tuple(entries)))
    return replace(table, lines=tuple(lines))


def _samples(table: Comparison) -> Iterator[tuple[At, Sample]]:
    for row, line in enumerate(table.lines):
        for column, point, base in _pairs(line):
            if not point.idle_loads and not base.idle_loads:
                yield (row, column), confidence_intervals.sample(point.values(), base.values(), row)


def _pairs(line: Line) -> Iterator[tuple[int, Point, Point]]:
    """(column, arm, base) of what has a ratio."""
    for column, entry in enumerate(line.entries):
        if entry.kind == RATIO and entry.point and (base := line.entries[0].point):
            yield column, entry.point, base
