"""The tables of a report: those that the spec asks for, else the usual ones of the kinds of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import takewhile
from statistics import median_low

from stepgrid.collect.step_figures import HOLDS
from stepgrid.model import units
from stepgrid.model.plan import BUILD
from stepgrid.model.search import SIZED
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, MOST_ROWS, NOTHING, WITHOUT_FIGURE, Cell, Column, Table
from stepgrid.plugins import registry
from stepgrid.plugins.layout import DEFAULT_LAYOUT, STEP
from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.comparisons.comparison_axes import most_able
from stepgrid.summarize.comparisons.ratio_intervals import RatioIntervals
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.searches import Search, SearchedAxis, mean
from stepgrid.summarize.data.tables_reader import Run, Window
from stepgrid.summarize.table_blocks import (
    Arrangement,
    Labels,
    ReportPoints,
    Request,
    TableInputs,
    arrange,
    block,
)

TOGETHER = ("per_operation",)  # a table for each step: the rows of all of them count
TOO_LONG, REPEATED = "too long for here", "the same ratios, to be pasted"
REPEATING = ("relative",)  # ratios that the comparisons of a report have, with verdicts
LINES = ("percentiles", "stalls", "compaction_sum", "iostat", "vmstat")  # one table, each point a line or a column
TOP = 5  # counters of a probe, as published
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
_IN_ABSOLUTE_FIGURES = ("p50_us", "p99_us", "p99_9_us")


@dataclass(frozen=True, slots=True)
class LongTable:
    """A table that the spec does not ask for and the report only names: it is made when a reader asks for it."""

    name: str
    make: Callable[[], list[Table]]
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
        is_much = name in TOGETHER and _is_much(form.points)
        for key, members in form.blocks():
            make = partial(_tables_with_figures, form, key, members)
            if name not in REPEATING and not is_much and not (name in LINES and _is_much(members)):
                yield from make()
                continue
            if layout.levels:
                levels = self.tables.details.places_with_levels
                has_any = any(not levels.isdisjoint(point.places) for point in members)
            else:
                has_any = any(name in run.metrics for point in members for run in point.runs for name in layout.metrics)
            if has_any:
                title = Table(form.title, (), (), form.words(key, form.by)).name
                yield LongTable(title, make, REPEATED if name in REPEATING else TOO_LONG)


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


def _tables_with_figures(form: Arrangement, key: Labels, points: Sequence[Point]) -> list[Table]:
    """Make the tables of a block, but those of zeros only."""
    part = block(form, key, points)
    tables = form.layout.tables(part)
    return [table for table in tables if has_figures(table)]


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
    "medians of the loads: the largest value that more probably holds than not, and the next one that was tried"
)
_BEST_NOTE = "medians of the loads; knee: the smallest value with 95 % of the best figure"


def search_tables(searches: Sequence[Search]) -> Iterator[Table]:
    for axis in dict.fromkeys(search.axis for search in searches):
        members = [search for search in searches if search.axis is axis]
        yield _answers(axis, members)
        yield from (_curve(search) for search in members if search.loads)


def search_title(axis: SearchedAxis) -> str:
    return f"{axis.step}: {axis.text}"


def _answers(axis: SearchedAxis, searches: Sequence[Search]) -> Table:
    if axis.is_boundary:
        heads = [f"{axis.variable} that holds", "lowest-highest", "fails from", "loads"]
    else:
        heads = [f"best {axis.variable}", "lowest-highest", axis.objective.name, "knee", "loads"]
    names = list(dict.fromkeys(name for search in searches for name in search.labels))
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
        rows.append(tuple(map(Cell, (*labels, *texts, str(len(search.loads))))))
    columns = (*(Column(name, label=True) for name in names), *map(Column, heads))
    return Table(search_title(axis), columns, tuple(rows), notes=(_BOUNDARY_NOTE if axis.is_boundary else _BEST_NOTE,))


def _curve(search: Search) -> Table:
    axis = search.axis
    heads = (Column(axis.variable, label=True), Column("tries"), Column("holds"), *map(Column, axis.figures))
    rows = []
    for value, runs in search.curve():
        holding = sum(run.metrics.get(HOLDS) == 1.0 for run in runs)
        figures = [_figure(mean(runs, name)) for name in axis.figures]
        rows.append(tuple(map(Cell, (_value_text(axis, value), str(len(runs)), str(holding), *figures))))
    return Table(f"{search_title(axis)}: tried", heads, tuple(rows), ", ".join(search.labels.values()))


def _figure(value: float | None) -> str:
    return NOTHING if value is None else units.figure(value)


def _median(axis: SearchedAxis, values: Sequence[int]) -> str:
    return _value_text(axis, median_low(values)) if values else NOTHING


def _value_text(axis: SearchedAxis, value: float) -> str:
    return units.size(value) if axis.param.endswith(SIZED) else f"{value:,.4g}"
