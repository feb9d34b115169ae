"""Arrangement of a table of the report, and the blocks of points that its layout turns into tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import fmean, median
from typing import Any

from stepgrid.model.plan import BUILD, Axis
from stepgrid.model.status import Status
from stepgrid.plugins import metrics
from stepgrid.plugins.layout import ARMS, BASE, DEFAULT_LAYOUT, OWN, STEP, At, Block, Layout, LayoutCell
from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.comparisons.builds import NO_VERDICT
from stepgrid.summarize.comparisons.judgement import idleness
from stepgrid.summarize.comparisons.ratio_intervals import RatioIntervals, ratio
from stepgrid.summarize.data.points import Point, label
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.data.tables_reader import Row, Shares, StepDetails

Request = Mapping[str, Any]  # a table as a spec asks for it
Labels = tuple[str | None, ...]
Caveat = Callable[[Point, Point], str | None]


def no_caveat(_: Point, __: Point) -> str | None:
    return None


@dataclass(slots=True)
class ReportPoints:
    """The points of a report, with what tables need beside them."""

    points: Sequence[Point]
    axes: Sequence[Axis]
    steps: Sequence[str]
    details: StepDetails = field(default_factory=StepDetails)
    counters: Mapping[Place, Mapping[str, float]] = field(default_factory=dict)
    caveat: Caveat = no_caveat
    intervals: RatioIntervals = field(default_factory=RatioIntervals)
    units: Mapping[str, str] = field(default_factory=dict)  # of metrics
    _by_labels: dict[tuple[str, frozenset[tuple[str, str]]], Point] = field(init=False)
    _values: dict[int, Mapping[str, float]] = field(default_factory=dict)  # by id of the point

    def __post_init__(self) -> None:
        self._by_labels = {(point.step, frozenset(point.labels.items())): point for point in self.points}

    def base(self, point: Point, base: Mapping[str, str]) -> Point | None:
        """Find the point with the labels of the base, all other axes equal."""
        labels = {axis: base.get(axis, text) for axis, text in point.labels.items()}
        return self._by_labels.get((base.get(STEP, point.step), frozenset(labels.items())))

    def values(self, point: Point) -> Mapping[str, float]:
        """Medians over the loads of metrics and counters."""
        if id(point) not in self._values:
            if len(point.runs) == 1:
                medians = point.runs[0].metrics
            else:
                names = {name for run in point.runs for name in run.metrics}
                medians = {name: spread[0] for name in names if (spread := point.spread(name))}
            runs = [self.counters[key] for key in point.places if key in self.counters]
            counted = dict.fromkeys(name for counters in runs for name in counters)
            growth = {name: median(counters[name] for counters in runs if name in counters) for name in counted}
            self._values[id(point)] = {**growth, **medians}
        return self._values[id(point)]

    def labels(self, axis: str, points: Iterable[Point]) -> list[str]:
        """List the labels of an axis that points have, in its order."""
        present = {label(point, axis) for point in points}
        return [text for text in self._order(axis) if text in present]

    def sort(self, keys: Iterable[Labels], axes: Sequence[str]) -> list[Labels]:
        ranks = [{text: index for index, text in enumerate(self._order(axis))} for axis in axes]
        return sorted(keys, key=lambda key: [rank.get(text or "", -1) for rank, text in zip(ranks, key, strict=True)])

    def _order(self, name: str) -> Sequence[str]:
        return self.steps if name == STEP else next((axis.labels for axis in self.axes if axis.name == name), ())


# The arrangement: which axes go down, across and into blocks of their own, and the base of the ratios.


@dataclass(frozen=True, slots=True)
class Arrangement:
    layout: Layout
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    by: tuple[str, ...]
    base: Mapping[str, str] | None
    metrics: tuple[str, ...]
    called: Mapping[str, str] = field(default_factory=dict)
    counters: tuple[str, ...] = ()
    top: int | None = None

    def call(self, name: str) -> str:
        return self.called.get(name, name)


def arrangement(
    request: Request, axes: Sequence[Axis], points: Sequence[Point], report_base: Mapping[str, str]
) -> Arrangement:
    layout = LAYOUTS.get(request.get("layout", DEFAULT_LAYOUT))
    varying = [name for name in (STEP, *(axis.name for axis in axes)) if _varies(name, points)]
    base = _base(request, layout, axes, report_base)
    rows, columns, by = _axes(request, layout, varying, base or {})
    counters = tuple(request.get("counters", ()))
    names = tuple(metrics.metric_name(name) or name for name in request.get("metrics", ()))
    defaults = layout.metrics if layout.own_metrics and not counters else ()
    return Arrangement(
        layout,
        request.get("title", layout.title),
        rows,
        columns,
        by,
        base,
        names or defaults,
        request.get("labels", {}),
        counters,
        request.get("top"),
    )


def _varies(axis: str, points: Iterable[Point]) -> bool:
    labels: set[str] = set()
    for point in points:
        if (text := label(point, axis)) is not None:
            labels.add(text)
            if len(labels) > 1:
                return True
    return False


def _base(
    request: Request, layout: Layout, axes: Sequence[Axis], report_base: Mapping[str, str]
) -> Mapping[str, str] | None:
    """Choose the table's base; if its layout compares, else the report's, unless the columns are of another axis."""
    if "base" in request:
        base: Mapping[str, str] = request["base"]
        return base
    if not layout.compares:
        return None
    across = [name for name in request.get("columns", ()) if name != STEP]
    if across and not set(report_base) & set(across):
        return {across[0]: next(axis.labels[0] for axis in axes if axis.name == across[0])}
    return report_base or None


def _axes(
    request: Request, layout: Layout, varying: Sequence[str], base: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Arrange rows, columns and blocks: an axis that the request leaves out goes to the arms, or makes blocks."""
    requested = {key: tuple(request[key]) for key in ("rows", "columns", "by") if key in request}
    used = {name for names in requested.values() for name in names}
    usable = {*varying, STEP, ARMS, *base} - used
    defaults = {"rows": layout.rows, "columns": layout.columns, "by": layout.by if "layout" in request else ()}
    names_by_key: dict[str, tuple[str, ...]] = {}
    for key, default in defaults.items():
        names = (name for part in default for name in (tuple(base) if part == BASE else (part,)))
        names_by_key[key] = requested.get(key) or tuple(name for name in names if name in usable)
    placed = {name for names in names_by_key.values() for name in names}
    unplaced = tuple(name for name in varying if name not in placed)
    if ARMS not in placed:
        names_by_key["by"] += unplaced
    rows, columns, by = (
        tuple(name for part in names_by_key[key] for name in (unplaced if part == ARMS else (part,)))
        for key in ("rows", "columns", "by")
    )
    return rows or (BUILD if STEP in (*by, *columns) else STEP,), columns, by


# The blocks: the points of a table, each with its figures, or why it has none.


def groups(form: Arrangement, points: Sequence[Point], report: ReportPoints) -> Iterator[tuple[Labels, list[Point]]]:
    """Sort the points into blocks."""
    by_key: dict[Labels, list[Point]] = {}
    labels = {axis: report.labels(axis, points) for axis in form.by if STEP not in form.by}
    for point in points:
        for key in _keys(point, form.by, labels):
            by_key.setdefault(key, []).append(point)
    for key in report.sort(by_key, form.by):
        yield key, by_key[key]


def block(form: Arrangement, key: Labels, points: Sequence[Point], report: ReportPoints) -> Block:
    labels = {axis: report.labels(axis, points) for axis in form.columns}
    rows = report.sort({_key(point, form.rows) for point in points}, form.rows)
    columns = report.sort({key for point in points for key in _keys(point, form.columns, labels)}, form.columns)
    row_indices, column_indices = ({key: index for index, key in enumerate(keys)} for keys in (rows, columns))
    placed = {
        (row_indices[_key(point, form.rows)], column_indices[key]): point
        for point in points
        for key in _keys(point, form.columns, labels)
    }
    builds = {point.build for point in points}
    empty = Block(
        title=form.title,
        rows=tuple(tuple(form.call(text) if text else "" for text in row) for row in rows),
        columns=tuple(_column_heads(form, column) for column in columns),
        row_axes=tuple(map(form.call, form.rows)),
        column_axes=tuple(map(form.call, form.columns)),
        metrics=form.metrics,
        counters=form.counters,
        top=form.top,
        point=", ".join(filter(None, (_single_step(form, points, report), block_name(form, key)))),
        base=None if form.base is None else _words(form, form.base.values(), form.base),
        base_column=_base_column(form, columns),
        called=form.called,
        units=report.units,
        notes=_missing_loads(form, points),
        unnamed=form.call(builds.pop()) if len(builds) == 1 else "",
    )
    spots = _spots(form, empty, placed, report)
    if form.base is not None:
        spots = _with_margins(form.base, spots, placed, report)

    def ratio_of(at: At, base: At, metric: str) -> float | None:
        return ratio(placed[at], placed[base], metric) if at in placed and base in placed else None

    return replace(empty, spots=spots, ratio_of=ratio_of)


def _key(point: Point, axes: Sequence[str]) -> Labels:
    return tuple(label(point, axis) for axis in axes)


def _keys(point: Point, axes: Sequence[str], labels: Mapping[str, Sequence[str]]) -> Iterable[Labels]:
    """Repeat a point that an axis does not touch at each label that others of its block have."""
    return product(*((text,) if (text := label(point, axis)) else labels.get(axis) or (None,) for axis in axes))


def _column_heads(form: Arrangement, labels: Labels) -> tuple[str, ...]:
    """Name a column; a bare number gets its axis."""
    heads = []
    for axis, text in zip(form.columns, labels, strict=True):
        head = form.call(text) if text else ""
        heads.append(f"{axis}={head}" if head == text and head.isdigit() else head)
    return tuple(heads)


def _single_step(form: Arrangement, points: Iterable[Point], report: ReportPoints) -> str:
    """Name the step of all points if the report has several, and nothing else in the table names it."""
    steps = {point.step for point in points}
    step = next(iter(steps))
    is_named = STEP in (*form.by, *form.rows, *form.columns) or step in form.title.split()
    return "" if len(steps) > 1 or is_named or len(report.steps) < 2 else form.call(step)


def block_name(form: Arrangement, key: Labels) -> str:
    return _words(form, key, form.by)


def _words(form: Arrangement, labels: Iterable[str | None], axes: Iterable[str]) -> str:
    """readww, cache=lru"""
    pairs = [(axis, form.call(text)) for axis, text in zip(axes, labels, strict=True) if text]
    return ", ".join(text if axis in OWN else f"{form.call(axis)}={text}" for axis, text in pairs)


def _base_column(form: Arrangement, columns: Sequence[Labels]) -> int | None:
    if form.base is None or form.base.keys() != {*form.columns}:
        return None
    wanted = tuple(form.base[axis] for axis in form.columns)
    return columns.index(wanted) if wanted in columns else None


def _missing_loads(form: Arrangement, points: Sequence[Point]) -> tuple[str, ...]:
    short = [point for point in points if 0 < point.loads[0] < point.loads[1]]
    if not short:
        return ()
    measured, planned = short[0].loads
    names = (*form.by, *form.rows, *form.columns)
    suffix = f", and {len(short) - 1} more so" if len(short) > 1 else ""
    return (f"{_words(form, _key(short[0], names), names)}: {measured} of {planned} loads{suffix}",)


def _spots(
    form: Arrangement, block: Block, placed: Mapping[At, Point], report: ReportPoints
) -> Mapping[At, LayoutCell]:
    """Show a measurement once, first in the column of the base; its other spots say where it is."""
    owners: dict[tuple[Place, ...], At] = {}
    spots = {}
    for at in sorted(placed, key=lambda at: (at[1] != block.base_column, at)):
        point = placed[at]
        owner = owners.setdefault(point.places, at)
        if point.status != Status.DONE:
            spots[at] = LayoutCell(status=point.status)
        elif owner != at:
            parts = (
                block.row(owner[0]) if owner[0] != at[0] else "",
                block.column(owner[1]) if owner[1] != at[1] else "",
            )
            spots[at] = LayoutCell(status=f"same as {', '.join(filter(None, parts))}")
        else:
            spots[at] = _spot(form, point, report)
    return spots


def _spot(form: Arrangement, point: Point, report: ReportPoints) -> LayoutCell:
    """Gather the figures of a point; levels and sizes are those of its first load."""
    layout, details = form.layout, report.details
    spot = LayoutCell(report.values(point), ratios=_ratios(form, point, report))
    if layout.levels:
        spot = spot._replace(levels=_first_rows(point, details.levels))
    if layout.objects:
        spot = spot._replace(objects=_first_rows(point, details.sizes))
    if layout.times:
        runs = [details.response_times[key] for key in point.places if key in details.response_times]
        spot = spot._replace(times=mean_shares(runs))
    return spot


def _first_rows(point: Point, rows: Mapping[Place, Sequence[Row]]) -> Sequence[Row]:
    return next((rows[key] for key in point.places if key in rows), ())


def mean_shares(runs: Iterable[Shares]) -> Shares:
    """Average shares over the loads: medians would not add up to all operations."""
    by_operation: dict[str, list[Sequence[float]]] = {}
    for shares in runs:
        for operation, classes in shares.items():
            by_operation.setdefault(operation, []).append(classes)
    return {
        operation: [fmean(column) for column in zip(*classes, strict=True)]
        for operation, classes in by_operation.items()
    }


def _ratios(form: Arrangement, point: Point, report: ReportPoints) -> Mapping[str, float]:
    base = report.base(point, form.base) if form.base is not None else None
    if base is None:
        return {}
    names = form.metrics or form.layout.metrics or ("qps",)
    return {name: value for name in names if (value := ratio(point, base, name)) is not None}


def _with_margins(
    base: Mapping[str, str], spots: Mapping[At, LayoutCell], placed: Mapping[At, Point], report: ReportPoints
) -> Mapping[At, LayoutCell]:
    """Add the intervals of the ratios, and what makes a ratio doubtful."""
    pairs = {
        at: (placed[at], base_point)
        for at, spot in spots.items()
        if spot.ratios and (base_point := report.base(placed[at], base))
    }
    names = dict.fromkeys(name for at in pairs for name in spots[at].ratios)
    margins = {name: report.intervals.margins(pairs, name) for name in names}
    marked = dict(spots)
    for at, pair in pairs.items():
        idle = idleness(*pair)
        caveat = f"{NO_VERDICT}: {idle}" if idle else report.caveat(*pair) or ""
        own_margins = {name: by_spot[at] for name, by_spot in margins.items() if at in by_spot}
        marked[at] = spots[at]._replace(margins=own_margins, caveat=caveat)
    return marked
