"""Comparisons as tables to paste: a row for each step and point, a column for each arm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, NOTHING, SAME, Basis, Cell, Column, Table
from stepgrid.plugins.layout import MARK
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.builds import AS_SHIPPED, NO_VERDICT
from stepgrid.summarize.comparisons.comparison import (
    BASE,
    NO_BASE,
    RATIO,
    Comparison,
    Entry,
    PooledRatio,
    Row,
)
from stepgrid.summarize.data.points import Point

FLOOR = "floor"
DOUBT = "†"  # on a ratio with conditions that stand below
MIXED = "§"  # on a ratio over points of which some are on the other side of 1
SHIPPED = "‡"  # on a verdict across builds that were not made alike
PAIRED = "ratios: geometric means over the loads, each load to the same load of the base"
MOST_PLACES = 3  # that have the same doubt


def comparison_table(comparison: Comparison, is_first: bool = True) -> Table:
    """Make the table; its column of the floor is there where the experiment has one."""
    has_floors = any(map(_floor_text, comparison.rows))
    title = comparison.metric.title
    labels = [Column(name, label=True) for name in ("step", *comparison.layout.down)]
    heads = (f"{comparison.base} {title}", *([FLOOR] if has_floors else []), *comparison.arm_names)
    rows = tuple(tuple(_cells(comparison, row, has_floors)) for row in comparison.rows)
    columns = (*labels, *(Column(head, is_text=True) for head in heads))
    return Table(f"{title} relative to {comparison.base}", columns, rows, notes=tuple(_notes(comparison, is_first)))


def _cells(comparison: Comparison, row: Row, has_floors: bool) -> Iterator[Cell]:
    yield from map(Cell, (row.step, *(label or "-" for label in row.labels)))
    for number, entry in enumerate(row.entries):
        yield entry_cell(entry, comparison)
        if has_floors and not number:
            yield Cell(_floor_text(row) or "-")


def _floor_text(row: Row) -> str:
    """Write the highest floor of a row: 1.3 %."""
    floors = [entry.floor for entry in row.entries if entry.floor is not None]
    return units.percent(max(floors)) if floors else ""


def _notes(comparison: Comparison, is_first: bool) -> Iterator[str]:
    entries = [entry for row in comparison.rows for entry in row.entries]
    if is_first and any(entry.point and entry.point.loads[0] > 1 for entry in entries):
        yield PAIRED
    refusals = dict.fromkeys(entry.refusal for entry in entries if entry.refusal)
    yield from (f"{MARK} {NO_VERDICT}: {refusal}" for refusal in refusals)
    differences = dict.fromkeys(entry.as_shipped for entry in entries if entry.as_shipped)
    yield from (f"{SHIPPED} {AS_SHIPPED}: {difference}" for difference in differences)
    yield from (f"{DOUBT} {doubt}" for doubt in doubt_texts(comparison))


def pooled_table(comparison: Comparison) -> Table | None:
    """Make the table of ratios over all points of a step, a column for each arm; None where no step has several."""
    names = list(dict.fromkeys(pooled.name for pooled in comparison.pooled))
    rows, notes = [], []
    for step in comparison.steps:
        ratios = {pooled.name: pooled for pooled in comparison.pooled_of(step)}
        if ratios:
            count = str(max(pooled.points for pooled in ratios.values()))
            cells = (_pooled_cell(ratios[name]) if name in ratios else Cell(NOTHING) for name in names)
            rows.append((Cell(step), Cell(count), *cells))
        for pooled in ratios.values():
            if pooled.dissenting:
                omitted = len(pooled.dissenting) - MOST_PLACES
                points = "; ".join(pooled.dissenting[:MOST_PLACES]) + (f"; and {omitted} more" if omitted > 0 else "")
                notes.append(f"{MIXED} {step}, {pooled.name}: on the other side of 1 at {points}")
    title = f"{comparison.metric.title} relative to {comparison.base}, over all points of a step"
    heads = (Column("step", label=True), Column("points", label=True), *(Column(name, is_text=True) for name in names))
    return Table(title, heads, tuple(rows), notes=tuple(notes)) if rows else None


def _pooled_cell(pooled: PooledRatio) -> Cell:
    interval, verdict = pooled.interval, pooled.verdict or ""
    ratio = units.ratio(pooled.ratio)
    if interval:
        ratio = units.ratio_with_interval(pooled.ratio, interval.low, interval.high)
    text = " ".join(filter(None, (ratio, verdict, MIXED if pooled.dissenting else "")))
    return Cell(text, verdict, pooled.ratio, (interval.low, interval.high) if interval else None, verdict)


def doubt_texts(comparison: Comparison) -> Iterator[str]:
    """Write one sentence for all places with the same condition: `kernel 6.1.0 / 6.18.0: readww, 1, hyper`."""
    points_by_doubt: dict[str, list[str]] = {}
    for row in comparison.rows:
        for name, entry in zip(comparison.arm_names, row.entries[1:], strict=True):
            for doubt in entry.doubts:
                points_by_doubt.setdefault(doubt, []).append(", ".join(filter(None, (row.step, *row.labels, name))))
    for doubt, names in points_by_doubt.items():
        omitted = len(names) - MOST_PLACES
        yield f"{doubt}: {'; '.join(names[:MOST_PLACES])}{f'; and {omitted} more' if omitted > 0 else ''}"


def entry_cell(entry: Entry, comparison: Comparison) -> Cell:
    """Write an entry for people, with what data are made of behind it."""
    content, kind = _entry_text(entry, comparison), entry.verdict or entry.kind
    if entry.kind == BASE and entry.point:
        spread = entry.point.spread(comparison.metric.name)
        return Cell(content, kind, spread[0] if spread else None)
    if entry.kind != RATIO:
        return Cell(content, kind)
    return _ratio_cell(entry, content, kind)


def _ratio_cell(source: Entry | PooledRatio, content: str, kind: str = "") -> Cell:
    """Put the interval, the verdict and what recomputes the interval behind a ratio."""
    interval, verdict = source.interval, source.verdict or NO_VERDICT
    if interval is None:
        return Cell(content, kind, source.ratio, None, verdict)
    basis = None
    if interval.deviation is not None and interval.freedom is not None and interval.critical is not None:
        basis = Basis(interval.ratios, interval.deviation, interval.freedom, interval.critical)
    return Cell(content, kind, source.ratio, (interval.low, interval.high), verdict, basis)


def _entry_text(entry: Entry, comparison: Comparison) -> str:
    if entry.kind == ABSENT:
        return "-"
    if entry.kind == SAME:
        return f"same as {entry.same or comparison.base}"
    if entry.kind == BASE and entry.point:
        return figure_text(entry.point, comparison.metric.name)
    if entry.kind == NO_BASE and entry.point:
        return f"no base; {figure_text(entry.point, comparison.metric.name)} {comparison.metric.title}"
    return _ratio_text(entry) if entry.kind == RATIO else entry.kind


def _ratio_text(entry: Entry) -> str:
    """Write a ratio: `1.12 [1.08, 1.16] faster`."""
    parts = [ratio_with_interval(entry), MARK if entry.refusal else entry.verdict or ""]
    parts += [SHIPPED if entry.as_shipped else "", DOUBT if entry.doubts else ""]
    if entry.point and entry.point.loads[0] < entry.point.loads[1]:
        measured, planned = entry.point.loads
        parts.append(f"({entry.point.losses or f'{measured} of {planned} loads'})")
    return " ".join(filter(None, parts))


def ratio_with_interval(entry: Entry) -> str:
    if entry.ratio is None:
        return ""
    if entry.interval is None:
        return units.ratio(entry.ratio)
    return units.ratio_with_interval(entry.ratio, entry.interval.low, entry.interval.high)


def figure_text(point: Point, metric: str = QPS) -> str:
    spread = point.spread(metric)
    if spread is None:
        return "-" if point.status == Status.DONE else point.status
    return units.rate(spread[0])


def ratio_table(comparisons: Iterable[Comparison]) -> Table:
    """Make a row for each ratio of each metric, and for each one over all points of a step; for programs."""
    heads = ("step", "point", "arm", "base", "metric", "better")
    columns = [*(Column(name, label=True) for name in heads), Column("ratio"), Column("as shipped", is_text=True)]
    rows = []
    for comparison in comparisons:
        metric = (comparison.metric.name, comparison.metric.better or "")
        for case in comparison.cases():
            names = (case.row.step, comparison.point_name(case.row), comparison.arm_name(case.arm), comparison.base)
            rows.append(_ratio_row((*names, *metric), case.entry))
        for pooled in comparison.pooled:
            base = comparison_axes.words((pooled.base,), (pooled.axis,))
            names = (pooled.step, f"all {pooled.points} points", pooled.name, base)
            rows.append(_ratio_row((*names, *metric), pooled))
    return Table("ratios", tuple(columns), tuple(rows))


def _ratio_row(names: Iterable[str], source: Entry | PooledRatio) -> tuple[Cell, ...]:
    text = "" if source.ratio is None else units.ratio(source.ratio)
    return (*map(Cell, names), _ratio_cell(source, text), Cell(source.as_shipped or ""))
