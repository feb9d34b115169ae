"""The tables of a report: those that the spec asks for, else the usual ones of the kinds of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import product, takewhile
from statistics import fmean, median_low
from typing import Any

from msgspec import Struct, field

from stepgrid.collect.step_figures import HOLDS
from stepgrid.model import units
from stepgrid.model.plan import BUILD, PlannedAxis
from stepgrid.model.records import replace
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, MOST_ROWS, NOTHING, WITHOUT_FIGURE, Cell, Column, Table, group
from stepgrid.plugins import metrics, registry
from stepgrid.plugins.layout import ARMS, BASE, DEFAULT_LAYOUT, OWN, STEP, At, Block, Layout, LayoutCell
from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.comparisons.builds import NO_VERDICT
from stepgrid.summarize.comparisons.comparison import RatioIntervals, ratio
from stepgrid.summarize.comparisons.comparison_axes import most_able, touching
from stepgrid.summarize.comparisons.judgement import idleness
from stepgrid.summarize.data.functions import with_functions
from stepgrid.summarize.data.points import AxisAnswers, Point, SearchedAxis, choose_points, label, mean, points
from stepgrid.summarize.data.tables_reader import Place, Row, Run, Shares, Tables, Window

TOGETHER = ("per_operation",)  # a table for each step: the rows of all of them count
TOO_LONG, REPEATED = "too long for here", "the same ratios, to be pasted"
REPEATING = ("relative",)  # ratios that the comparisons of a report have, with verdicts
LINES = ("percentiles", "stalls", "compaction_sum", "iostat", "vmstat")  # one table, each point a line or a column
TOP = 5  # counters of a probe, as published
PROFILE = "functions"  # the layout of what profilers counted
MOST_PROFILES = 6  # tables of it that are shown
RESPONSE_TIMES = {
    "avg_us": "avg",
    "p50_us": "p50",
    "p75_us": "p75",
    "p95_us": "p95",
    "p99_us": "p99",
    "p99_9_us": "p99.9",
    "p99_99_us": "p99.99",
    "max_us": "max",
}
_IN_ABSOLUTE_FIGURES = ("p50_us", "p99_us", "p99_9_us", "p99_99_us")


class LongTable(Struct, frozen=True):
    """Tables that the spec does not ask for and the report only names."""

    name: str
    tables: Sequence[Table]
    why: str = TOO_LONG


def tables(requests: Sequence[Request], inputs: TableInputs) -> tuple[list[Table], list[LongTable]]:
    maker = _TableMaker(requests, inputs)
    if requests:
        return [table for request in requests for table in maker.requested(request)], []
    usual = [table for request in maker.usual_requests() for table in maker.usual(request)]
    return [item for item in usual if isinstance(item, Table)], [item for item in usual if isinstance(item, LongTable)]


class _TableMaker:
    def __init__(self, requests: Sequence[Request], inputs: TableInputs) -> None:
        self.inputs, self.tables = inputs, inputs.tables
        self._window_figures = cache(self.tables.details.window)
        self.runs = [run for run in self.tables.runs if run.measured]
        patterns = {str(pattern) for request in requests for pattern in request.get("counters", ())}
        probes = () if requests else self.tables.probes
        self.counters = self.tables.details.named_counters(sorted({*patterns, *(f"{probe}.*" for probe in probes)}))

    @cached_property
    def measured(self) -> ReportPoints:
        return ReportPoints(self.inputs, self.runs, self.counters)

    @cached_property
    def all_steps(self) -> ReportPoints:
        return ReportPoints(self.inputs, self.tables.runs, self.counters)

    def requested(self, request: Request) -> list[Table]:
        layout = LAYOUTS.get(request.get("layout", DEFAULT_LAYOUT))
        report = self.measured
        if layout.sizes:
            where = {STEP: load_steps(self.tables.runs, layout.metrics), **request.get("where", {})}
            report, request = self.all_steps, {**request, "where": where}
        if "window" in request:
            report = self._window(tuple(request["window"]))
        form = arrange(request, report)
        parts = [table for key, members in form.blocks() for table in layout.tables(block(form, key, members))]
        title = request.get("title", request.get("layout", ""))
        return parts or [Table(title, (), (), notes=("there is nothing to show",))]

    def _window(self, window: Window) -> ReportPoints:
        """Use the figures of a window alone, with intervals of their own; a step that was too short is left out."""
        figures = self._window_figures(window)
        runs = [run for run in self.runs if not run.metrics or run.place in figures]
        windowed = [replace(run, metrics=figures.get(run.place, {})) for run in runs]
        return ReportPoints(replace(self.inputs, intervals=RatioIntervals()), windowed, self.counters)

    def usual_requests(self) -> Iterator[Request]:
        """List the tables of the kinds of the steps, about the steps that have their figures; then those of probes."""
        tables_by_kind = {run.kind: registry.default_tables(run.kind) for run in self.runs}
        for name in dict.fromkeys(name for names in tables_by_kind.values() for name in names):
            layout = LAYOUTS.get(name)
            runs = [run for run in self.runs if name in tables_by_kind[run.kind]]
            if name == DEFAULT_LAYOUT:
                yield from _response_times(runs)
            elif layout.sizes:
                yield from self._usual_request(name, load_steps(self.tables.runs, layout.metrics))
            else:
                names = {*layout.metrics}
                any_figure = (run for run in runs if layout.levels or not run.metrics or names & run.metrics.keys())
                yield from self._usual_request(name, _steps(any_figure))
        profiled = self.tables.details.profiled_places
        yield from self._usual_request(PROFILE, _steps(run for run in self.runs if run.place in profiled))
        for probe in self.tables.probes:
            yield from self._probe_requests(probe)

    def _usual_request(self, name: str, steps: Sequence[str]) -> Iterator[Request]:
        """Ask for a layout, if there are steps for it, to compare builds where there are several."""
        inputs, request = self.inputs, {"layout": name, "where": {STEP: steps}}
        builds = next((axis.labels for axis in inputs.axes if axis.name == BUILD), ())
        if LAYOUTS.get(name).compares and len(builds) > 1 and BUILD not in inputs.base:
            request["base"] = {BUILD: most_able(inputs.axes, self.runs) or builds[0]}
        if steps:
            yield request

    def _probe_requests(self, probe: str) -> Iterator[Request]:
        """Ask for the seconds of a probe by step, and for what was counted around it."""
        if steps := _steps(run for run in self.runs if probe in run.metrics):
            yield {"layout": "probes", "metrics": [probe], "title": f"probe {probe}", "where": {STEP: steps}}
        prefix = f"{probe}."
        counting = {
            key
            for key, counters in self.counters.items()
            if any(value > 0 for name, value in counters.items() if name.startswith(prefix))
        }
        if steps := _steps(run for run in self.runs if run.place in counting):
            named = {"counters": [f"{prefix}*"], "top": TOP, "title": f"most of what was counted around {probe}"}
            yield {"layout": "counters", **named, "where": {STEP: steps}}

    def usual(self, request: Request) -> Iterator[Table | LongTable]:
        """Make the blocks that are short enough, and name the others."""
        name, layout = request["layout"], LAYOUTS.get(request["layout"])
        form = arrange(request, self.all_steps if layout.sizes else self.measured)
        blocks = [*form.blocks()]
        is_much = (name in TOGETHER and _is_much(form.points)) or (layout.functions and len(blocks) > MOST_PROFILES)
        for key, members in blocks:
            tables = [*filter(has_figures, layout.tables(block(form, key, members)))]
            if name not in REPEATING and not is_much and not (name in LINES and _is_much(members)):
                yield from tables
            elif tables:
                title = Table(form.title, (), (), form.words(key, form.by)).name
                yield LongTable(title, tables, REPEATED if name in REPEATING else TOO_LONG)


def _response_times(runs: Iterable[Run]) -> Iterator[Request]:
    """Ask for all response times of the steps with some that their absolute figures lack."""
    names_by_step: dict[str, set[str]] = {}
    for run in runs:
        names_by_step.setdefault(run.step, set()).update(RESPONSE_TIMES.keys() & run.metrics.keys())
    for step, names in names_by_step.items():
        if names.difference(_IN_ABSOLUTE_FIGURES):
            metrics = [name for name in RESPONSE_TIMES if name in names]
            named = {"title": "response time", "metrics": metrics, "labels": RESPONSE_TIMES}
            yield {"layout": DEFAULT_LAYOUT, **named, "where": {STEP: [step]}}


def _steps(runs: Iterable[Run]) -> list[str]:
    return [*dict.fromkeys(run.step for run in runs)]


def _is_much(points: Sequence[Point]) -> bool:
    return sum(point.status == Status.DONE for point in points) > MOST_ROWS


def has_figures(table: Table) -> bool:
    """Tell if a cell has a figure other than 0."""
    cells = [cell for row in table.rows for cell, column in zip(row, table.columns, strict=True) if not column.label]
    figures = [cell for cell in cells if cell.kind not in (ABSENT, *WITHOUT_FIGURE)]
    return any(cell.value or (cell.value is None and (cell.text.strip("0.%") or not cell.text)) for cell in figures)


def load_steps(runs: Sequence[Run], metrics: Sequence[str]) -> list[str]:
    """List the steps of a table of loads: those that load, the last one before a measured step, and the last of all.

    Right after a load a server does not know how large its tables are; after the wait that follows it does.
    """
    loads = [run for run in runs if any(name in run.metrics for name in metrics)]
    if not loads:
        return []
    runs_of_axes = [run for run in runs if run.labels.keys() == loads[0].labels.keys()]
    steps = _steps(runs_of_axes)
    measured = {run.step for run in runs_of_axes if run.measured}
    before = [*takewhile(lambda step: step not in measured, steps)]
    return [*dict.fromkeys((*_steps(loads), *before[-1:], steps[-1]))]


# Searches on an axis: the answer of each combination of the other axes, and the values tried.

_BOUNDARY_NOTE = (
    "the largest value that more probably holds than not, or else the largest below all that failed, "
    "and the next one that was tried"
)
_BEST_NOTE = "knee: the smallest value with 95 % of the best figure"
_SEVERAL_LOADS = "of several loads the values are medians"
_NO_ANSWER = "where the loads are some of all, the others have no such value: the result is not of all loads"
_SEVERAL_BEST = f"{_SEVERAL_LOADS}, the best figure is the mean"


def search_tables(searches: Sequence[AxisAnswers]) -> Iterator[Table]:
    for axis in dict.fromkeys(search.axis for search in searches):
        members = [search for search in searches if search.axis is axis]
        yield _answers(axis, members)
        yield from (_curve(search) for search in members if search.loads)


def _answers(axis: SearchedAxis, searches: Sequence[AxisAnswers]) -> Table:
    if axis.is_boundary:
        heads = [f"{axis.variable} that holds", "lowest-highest", "fails from", "loads"]
    else:
        heads = [f"best {axis.variable}", "lowest-highest", axis.objective.name, "knee", "loads"]
    names = list(dict.fromkeys(name for search in searches for name in search.labels))
    heads += ["without a rate"] if any(search.maximum for search in searches) else []
    rows = []
    for search in searches:
        values = sorted(search.answers)
        ends = f"{_value_text(axis, values[0])}-{_value_text(axis, values[-1])}" if len(set(values)) > 1 else NOTHING
        texts = [_median(axis, values), ends]
        if axis.is_boundary:
            texts.append(_median(axis, search.failing))
        else:
            texts += [_figure(search.best), _median(axis, search.knees)]
        labels = [search.labels.get(name, NOTHING) for name in names]
        loads = str(len(search.loads))
        texts.append(loads if len(values) == len(search.loads) else f"{len(values)} of {loads}")
        texts.append(f"{_figure(search.maximum[1])} {search.maximum[0]}" if search.maximum else NOTHING)
        rows.append(tuple(map(Cell, (*labels, *texts[: len(heads)]))))
    columns = (*(Column(name, label=True) for name in names), *map(Column, heads))
    notes = [_BOUNDARY_NOTE if axis.is_boundary else _BEST_NOTE]
    if any(len(search.loads) > 1 for search in searches):
        notes.append(_SEVERAL_LOADS if axis.is_boundary else _SEVERAL_BEST)
    if any(len(search.answers) < len(search.loads) for search in searches):
        notes.append(_NO_ANSWER)
    return Table(axis.title, columns, tuple(rows), notes=tuple(notes))


def _curve(search: AxisAnswers) -> Table:
    axis = search.axis
    heads = (Column(axis.variable, label=True), Column("tries"), Column("holds"), *map(Column, axis.figures))
    rows = []
    for value, runs in search.curve():
        holding = sum(run.metrics.get(HOLDS) == 1.0 for run in runs)
        figures = [_figure(mean(runs, name)) for name in axis.figures]
        rows.append(tuple(map(Cell, (_value_text(axis, value), str(len(runs)), str(holding), *figures))))
    return Table(f"{axis.title}: tried", heads, tuple(rows), ", ".join(search.labels.values()))


def _figure(value: float | None) -> str:
    return NOTHING if value is None else units.short_figure(value)


def _median(axis: SearchedAxis, values: Sequence[int]) -> str:
    return _value_text(axis, median_low(values)) if values else NOTHING


def _value_text(axis: SearchedAxis, value: float) -> str:
    return units.size(value) if axis.unit == "B" else f"{value:,.4g}"


# Arrangement of a table, and the blocks of points that its layout turns into tables

Request = Mapping[str, Any]  # a table as a spec asks for it
Labels = tuple[str | None, ...]
Caveat = Callable[[Point, Point], str | None]


class TableInputs(Struct, frozen=True):
    axes: Sequence[PlannedAxis]
    base: Mapping[str, str]
    tables: Tables
    caveat: Caveat = lambda *_: None
    intervals: RatioIntervals = field(default_factory=RatioIntervals)


class ReportPoints:
    """The points of some runs of a report, with what their tables need."""

    def __init__(self, inputs: TableInputs, runs: Iterable[Run], counters: Mapping[Place, Mapping[str, float]]) -> None:
        self.inputs, self.counters = inputs, counters
        by_step = group((run.step, run) for run in runs)
        self.steps = [*by_step]
        self.points = [
            point
            for step, members in by_step.items()
            for point in points(members, step, [axis.name for axis in touching(inputs.axes, step)])
        ]
        self._by_labels = {(point.step, frozenset(point.labels.items())): point for point in self.points}
        self._values: dict[int, Mapping[str, float]] = {}  # by id of the point

    def base(self, point: Point, base: Mapping[str, str]) -> Point | None:
        """Find the point with the labels of the base, all other axes equal."""
        labels = {axis: base.get(axis, text) for axis, text in point.labels.items()}
        return self._by_labels.get((base.get(STEP, point.step), frozenset(labels.items())))

    def values(self, point: Point) -> Mapping[str, float]:
        """Means over the loads of metrics and counters."""
        if id(point) not in self._values:
            if len(point.runs) == 1:
                means = point.runs[0].metrics
            else:
                names = {name for run in point.runs for name in run.metrics}
                means = {name: spread[0] for name in names if (spread := point.spread(name))}
            runs = [self.counters[key] for key in point.places if key in self.counters]
            counted = dict.fromkeys(name for counters in runs for name in counters)
            growth = {name: units.mean([counters[name] for counters in runs if name in counters]) for name in counted}
            self._values[id(point)] = {**growth, **means}
        return self._values[id(point)]

    def figures_of_cells(self, point: Point, names: Iterable[str]) -> dict[str, float]:
        """Find figures that any step measured in the cells of a point."""
        points = [other for other in self.points if other.labels.items() <= point.labels.items()]
        values = [(name, self.values(other).get(name)) for other in points for name in names]
        return {name: value for name, value in values if value is not None}

    def labels(self, axis: str, points: Iterable[Point]) -> list[str]:
        """List the labels of an axis that points have, in its order."""
        present = {label(point, axis) for point in points}
        return [text for text in self._order(axis) if text in present]

    def sort(self, keys: Iterable[Labels], axes: Sequence[str]) -> list[Labels]:
        ranks = [{text: index for index, text in enumerate(self._order(axis))} for axis in axes]
        return sorted(keys, key=lambda key: [rank.get(text or "", -1) for rank, text in zip(ranks, key, strict=True)])

    def _order(self, name: str) -> Sequence[str]:
        return self.steps if name == STEP else next((axis.labels for axis in self.inputs.axes if axis.name == name), ())


class TableArrangement(Struct, frozen=True):
    """A requested table: which axes go down, across and into blocks of their own, and the base of the ratios."""

    report: ReportPoints
    request: Request
    points: Sequence[Point]
    layout: Layout
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    by: tuple[str, ...]
    base: Mapping[str, str] | None

    @property
    def title(self) -> str:
        return str(self.request.get("title", self.layout.title))

    @property
    def metrics(self) -> tuple[str, ...]:
        measured = {name for point in self.points for run in point.runs for name in run.metrics}
        requested = self.request.get("metrics", ())
        names = tuple(name if name in measured else metrics.metric_name(name) or name for name in requested)
        has_defaults = self.layout.own_metrics and "counters" not in self.request
        return names or (self.layout.metrics if has_defaults else ())

    def call(self, name: str) -> str:
        return str(self.request.get("labels", {}).get(name, name))

    def words(self, labels: Iterable[str | None], axes: Iterable[str]) -> str:
        """readww, cache=lru"""
        pairs = [(axis, self.call(text)) for axis, text in zip(axes, labels, strict=True) if text]
        return ", ".join(text if axis in OWN else f"{self.call(axis)}={text}" for axis, text in pairs)

    def blocks(self) -> Iterator[tuple[Labels, list[Point]]]:
        """Sort the points into blocks."""
        labels = {axis: self.report.labels(axis, self.points) for axis in self.by if STEP not in self.by}
        by_key = group((key, point) for point in self.points for key in _keys(point, self.by, labels))
        for key in self.report.sort(by_key, self.by):
            yield key, by_key[key]


def arrange(request: Request, report: ReportPoints) -> TableArrangement:
    """Choose the points of a table and arrange them.

    An axis that the request leaves out goes to the arms of the layout, or makes blocks.
    """
    inputs, layout = report.inputs, LAYOUTS.get(request.get("layout", DEFAULT_LAYOUT))
    chosen = choose_points(report.points, request.get("where", {}))
    varying = [
        name
        for name in (STEP, *(axis.name for axis in inputs.axes))
        if len({label(point, name) for point in chosen} - {None}) > 1
    ]
    base = _base(request, layout, inputs)
    requested = {key: tuple(request[key]) for key in ("rows", "columns", "by") if key in request}
    used = {name for names in requested.values() for name in names}
    usable = {*varying, STEP, ARMS, *(base or ())} - used
    defaults = {"rows": layout.rows, "columns": layout.columns, "by": layout.by if "layout" in request else ()}
    names_by_key: dict[str, tuple[str, ...]] = {}
    for key, default in defaults.items():
        names = (name for part in default for name in (tuple(base or ()) if part == BASE else (part,)))
        names_by_key[key] = requested.get(key) or tuple(name for name in names if name in usable)
    placed = {name for names in names_by_key.values() for name in names}
    unplaced = tuple(name for name in varying if name not in placed)
    if ARMS not in placed:
        names_by_key["by"] += unplaced
    rows, columns, by = (
        tuple(name for part in names_by_key[key] for name in (unplaced if part == ARMS else (part,)))
        for key in ("rows", "columns", "by")
    )
    rows = rows or (BUILD if STEP in (*by, *columns) else STEP,)
    return TableArrangement(report, request, chosen, layout, rows, columns, by, base)


def _base(request: Request, layout: Layout, inputs: TableInputs) -> Mapping[str, str] | None:
    """Choose the table's base; if its layout compares, else the report's, unless the columns are of another axis."""
    if "base" in request:
        return dict(request["base"])
    if not layout.compares:
        return None
    across = [name for name in request.get("columns", ()) if name != STEP]
    if across and not set(inputs.base) & set(across):
        return {across[0]: next(axis.labels[0] for axis in inputs.axes if axis.name == across[0])}
    return inputs.base or None


# A block: points by row and column, each with its figures, or why it has none.


def block(form: TableArrangement, key: Labels, points: Sequence[Point]) -> Block:
    report = form.report
    labels = {axis: report.labels(axis, points) for axis in form.columns}
    rows = report.sort({_key(point, form.rows) for point in points}, form.rows)
    columns = report.sort({key for point in points for key in _keys(point, form.columns, labels)}, form.columns)
    row_indices, column_indices = ({key: index for index, key in enumerate(keys)} for keys in (rows, columns))
    placed = {
        (row_indices[_key(point, form.rows)], column_indices[key]): point
        for point in points
        for key in _keys(point, form.columns, labels)
    }

    def ratio_of(at: At, base: At, metric: str) -> float | None:
        return ratio(placed[at], placed[base], metric) if at in placed and base in placed else None

    builds = {point.build for point in points}
    empty = Block(
        title=form.title,
        rows=tuple(tuple(form.call(text) if text else "" for text in row) for row in rows),
        columns=tuple(_column_heads(form, column) for column in columns),
        row_axes=tuple(map(form.call, form.rows)),
        column_axes=tuple(map(form.call, form.columns)),
        metrics=form.metrics,
        counters=tuple(form.request.get("counters", ())),
        top=form.request.get("top"),
        point=", ".join(filter(None, (_single_step(form, points), form.words(key, form.by)))),
        base=None if form.base is None else form.words(form.base.values(), form.base),
        base_column=_base_column(form, columns),
        called=form.request.get("labels", {}),
        units=report.inputs.tables.units,
        notes=_missing_loads(form, points),
        unnamed=form.call(builds.pop()) if len(builds) == 1 else "",
        ratio_of=ratio_of,
    )
    filled = replace(empty, spots=_with_margins(form, _spots(form, empty, placed), placed))
    return with_functions(filled, placed, report.inputs.tables.details) if form.layout.functions else filled


def _key(point: Point, axes: Sequence[str]) -> Labels:
    return tuple(label(point, axis) for axis in axes)


def _keys(point: Point, axes: Sequence[str], labels: Mapping[str, Sequence[str]]) -> Iterable[Labels]:
    """Repeat a point that an axis does not touch at each label that others of its block have."""
    return product(*((text,) if (text := label(point, axis)) else labels.get(axis) or (None,) for axis in axes))


def _column_heads(form: TableArrangement, labels: Labels) -> tuple[str, ...]:
    """Name a column; a bare number gets its axis."""
    heads = []
    for axis, text in zip(form.columns, labels, strict=True):
        head = form.call(text) if text else ""
        heads.append(f"{axis}={head}" if head == text and head.isdigit() else head)
    return tuple(heads)


def _single_step(form: TableArrangement, points: Iterable[Point]) -> str:
    """Name the step of all points if the report has several, and nothing else in the table names it."""
    steps = {point.step for point in points}
    step = next(iter(steps))
    is_named = STEP in (*form.by, *form.rows, *form.columns) or step in form.title.split()
    return "" if len(steps) > 1 or is_named or len(form.report.steps) < 2 else form.call(step)


def _base_column(form: TableArrangement, columns: Sequence[Labels]) -> int | None:
    if form.base is None or form.base.keys() != {*form.columns}:
        return None
    wanted = tuple(form.base[axis] for axis in form.columns)
    return columns.index(wanted) if wanted in columns else None


def _missing_loads(form: TableArrangement, points: Sequence[Point]) -> tuple[str, ...]:
    short = [point for point in points if 0 < point.loads[0] < point.loads[1]]
    if not short:
        return ()
    measured, planned = short[0].loads
    names = (*form.by, *form.rows, *form.columns)
    suffix = f", and {len(short) - 1} more so" if len(short) > 1 else ""
    pairing = "" if form.base is None else "; ratios are of the loads that both sides have"
    return (f"{form.words(_key(short[0], names), names)}: {measured} of {planned} loads{suffix}{pairing}",)


def _spots(form: TableArrangement, block: Block, placed: Mapping[At, Point]) -> dict[At, LayoutCell]:
    """Show a measurement once, first in the column of the base; its other spots say where it is."""
    owners: dict[tuple[Place, ...], At] = {}
    spots = {}
    for at in sorted(placed, key=lambda at: (at[1] != block.base_column, at)):
        point = placed[at]
        row, column = owners.setdefault(point.places, at)
        if point.status != Status.DONE:
            spots[at] = LayoutCell(status=point.status)
        elif (row, column) != at:
            names = block.row(row) if row != at[0] else "", block.column(column) if column != at[1] else ""
            spots[at] = LayoutCell(status=f"same as {', '.join(filter(None, names))}")
        else:
            spots[at] = _spot(form, point)
    return spots


def _spot(form: TableArrangement, point: Point) -> LayoutCell:
    """Gather the figures of a point; levels and sizes are those of its first load."""
    layout, report, details = form.layout, form.report, form.report.inputs.tables.details
    base = report.base(point, form.base) if form.base is not None else None
    names = (form.metrics or layout.metrics or ("qps",)) if base else ()
    ratios = {name: value for name in names if base and (value := ratio(point, base, name)) is not None}
    spot = LayoutCell({**report.figures_of_cells(point, layout.earlier), **report.values(point)}, ratios=ratios)
    if layout.levels:
        spot = spot._replace(levels=_first_rows(point, details.levels))
    if layout.objects:
        spot = spot._replace(objects=_first_rows(point, details.sizes))
    if layout.times:
        runs = [details.response_times[key] for key in point.places if key in details.response_times]
        missed = [details.response_times.get(run.place, {}) for run in point.missed_runs]
        shares = {name: part for name, part in mean_shares(runs).items() if all(name in run for run in missed)}
        spot = spot._replace(times=shares)
    return spot


def _first_rows(point: Point, rows: Mapping[Place, Sequence[Row]]) -> Sequence[Row]:
    return next((rows[key] for key in point.places if key in rows), ())


def mean_shares(runs: Sequence[Shares]) -> Shares:
    """Average shares over the loads: medians would not add up to all operations."""
    names = dict.fromkeys(name for shares in runs for name in shares)
    columns = {name: zip(*(shares[name] for shares in runs if name in shares), strict=True) for name in names}
    return {name: [fmean(column) for column in columns[name]] for name in names}


def _with_margins(
    form: TableArrangement, spots: Mapping[At, LayoutCell], placed: Mapping[At, Point]
) -> Mapping[At, LayoutCell]:
    """Add the intervals of the ratios, and what makes a ratio doubtful."""
    report, inputs = form.report, form.report.inputs
    pairs = {
        at: (placed[at], base)
        for at, spot in spots.items()
        if spot.ratios and (base := report.base(placed[at], form.base or {}))
    }
    names = dict.fromkeys(name for at in pairs for name in spots[at].ratios)
    margins = {name: inputs.intervals.margins(pairs, name) for name in names}
    marked = dict(spots)
    for at, pair in pairs.items():
        idle = idleness(*pair)
        caveat = f"{NO_VERDICT}: {idle}" if idle else inputs.caveat(*pair) or ""
        spot_margins = {name: by_spot[at] for name, by_spot in margins.items() if at in by_spot}
        marked[at] = spots[at]._replace(margins=spot_margins, caveat=caveat)
    return marked
