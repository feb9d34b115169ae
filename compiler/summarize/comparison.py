"""A table of comparisons: every arm of a step against its base, with interval and verdict or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.collect.states import DONE
from compiler.plan.model import Axis
from compiler.summarize import layout, statistics, verdicts
from compiler.summarize.layout import Labels, Layout
from compiler.summarize.points import Point
from compiler.summarize.statistics import Interval, Sample
from compiler.summarize.tables import Place
from compiler.summarize.timeseries import series_interval

BASE, RATIO, SAME_AS, NO_BASE, ABSENT = "base", "ratio", "same as", "no base", "absent"

Series = Mapping[Place, Sequence[tuple[float, float]]]
Caveat = Callable[[Point, Point], str | None]  # why two points may have no verdict


@dataclass(frozen=True, slots=True)
class Entry:
    """One cell of a table: `kind` is one of the words above, or the status of a point that is not done."""

    kind: str
    point: Point | None = None
    interval: Interval | None = None
    ratio: float | None = None
    verdict: str | None = None
    caveat: str | None = None
    same: str | None = None  # the arm, other than the base, whose runs these are


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
        return layout.words(self.columns[0], self.layout.across)

    @property
    def caveats(self) -> list[str]:
        said = (entry.caveat for line in self.lines for entry in line.entries if entry.caveat)
        return list(dict.fromkeys(said))

    @property
    def compared(self) -> int:
        return sum(entry.kind == RATIO for line in self.lines for entry in line.entries)

    @property
    def worth_showing(self) -> bool:
        """A step that lies before the base axis has nothing to compare."""
        return any(entry.kind not in (SAME_AS, ABSENT) for line in self.lines for entry in line.entries[1:])


def compare(
    step: str,
    form: Layout,
    axes: Sequence[Axis],
    points: Sequence[Point],
    series: Series,
    effect: float,
    caveat: Caveat,
) -> Comparison:
    columns = layout.columns(form, axes, points)
    places = {(layout.key(point, form.down), layout.key(point, form.across)): point for point in points}
    lines = []
    for labels in layout.lines(form, axes, points):
        row = [places.get((labels, column)) for column in columns]
        lines.append(Line(labels, tuple(_entry(point, row[0], index == 0) for index, point in enumerate(row))))
    return _judged(_shared(Comparison(step, form, tuple(columns), tuple(lines))), series, effect, caveat)


def _entry(point: Point | None, base: Point | None, is_base: bool) -> Entry:
    if point is None:
        return Entry(ABSENT)
    if point.status != DONE or not point.values():
        return Entry(point.status, point)
    if is_base:
        return Entry(BASE, point)
    if base is not None and point.places == base.places:
        return Entry(SAME_AS, point)
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
                    entries[column] = replace(entry, kind=SAME_AS, same=_apart(table, known, (row, column)))
        lines.append(replace(line, entries=tuple(entries)))
    return replace(table, lines=tuple(lines))


def _apart(table: Comparison, known: tuple[int, int], here: tuple[int, int]) -> str:
    """What a place of the table is called from another one: only what differs."""
    row = layout.words(table.lines[known[0]].labels, table.layout.down) if known[0] != here[0] else ""
    arm = layout.words(table.columns[known[1]], table.layout.across) if known[1] != here[1] else ""
    return ", ".join(part for part in (row, arm) if part)


def _judged(table: Comparison, series: Series, effect: float, caveat: Caveat) -> Comparison:
    """All intervals of a table at once: they hold together."""
    samples: dict[tuple[int, int], Sample] = {}
    for row, line in enumerate(table.lines):
        for column, entry in enumerate(line.entries):
            if entry.kind == RATIO and entry.point and (base := line.entries[0].point):
                samples[row, column] = statistics.sample(entry.point.values(), base.values(), row)
    found = dict(zip(samples, statistics.intervals(list(samples.values())), strict=True))
    lines = []
    for row, line in enumerate(table.lines):
        entries = list(line.entries)
        for column, entry in enumerate(entries):
            if (row, column) in samples and (base := line.entries[0].point) and entry.point:
                judged = replace(entry, ratio=statistics.ratio(samples[row, column]), interval=found[row, column])
                entries[column] = _worded(judged, entry.point, base, series, effect, caveat)
        lines.append(replace(line, entries=tuple(entries)))
    return replace(table, lines=tuple(lines))


def _worded(entry: Entry, point: Point, base: Point, series: Series, effect: float, caveat: Caveat) -> Entry:
    reason = caveat(point, base)
    if entry.ratio is None:
        return replace(entry, kind=NO_BASE)
    if entry.interval is None:
        return _from_series(entry, point, base, series, effect, reason)
    if reason:
        return replace(entry, caveat=reason)
    return replace(entry, verdict=verdicts.verdict(entry.interval.low, entry.interval.high, effect))


def _from_series(entry: Entry, point: Point, base: Point, series: Series, effect: float, reason: str | None) -> Entry:
    """One load: the interval of its series around the ratio of the figures, and no verdict."""
    common = point.values().keys() & base.values().keys()
    found = series_interval(_rates(point, common, series), _rates(base, common, series))
    if found is None or entry.ratio is None:
        return replace(entry, verdict=None if reason else verdicts.ONE_LOAD, caveat=reason)
    scale = entry.ratio / found.ratio
    moved = Interval(entry.ratio, found.low * scale, found.high * scale, 1)
    word = None if reason else verdicts.single(moved.low, moved.high, effect)
    return replace(entry, interval=moved, verdict=word, caveat=reason)


def _rates(point: Point, loads: Collection[int], series: Series) -> list[float]:
    return [rate for run in point.runs if run.load in loads for _, rate in series.get(run.place, ())]
