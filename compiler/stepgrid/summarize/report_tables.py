"""The tables of a report: those that the spec asks for, else the usual ones of the kinds of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import takewhile
from typing import Any

from stepgrid.model.plan import BUILD, Axis
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, MOST_ROWS, WITHOUT_FIGURE, Cell, Table
from stepgrid.plugins import registry
from stepgrid.plugins.layout import DEFAULT_LAYOUT, STEP, Layout
from stepgrid.plugins.registry import LAYOUTS
from stepgrid.summarize.comparisons.comparison_axes import most_able, touching
from stepgrid.summarize.comparisons.ratio_intervals import RatioIntervals
from stepgrid.summarize.data.points import Point, choose_points, points
from stepgrid.summarize.data.series import Place
from stepgrid.summarize.data.tables_reader import Run, Tables
from stepgrid.summarize.table_blocks import (
    Arrangement,
    Caveat,
    Labels,
    ReportPoints,
    Request,
    arrangement,
    block,
    block_name,
    blocks,
    groups,
    no_caveat,
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


@dataclass(frozen=True)
class TableInputs:
    axes: Sequence[Axis]
    base: Mapping[str, str]
    tables: Tables
    caveat: Caveat = no_caveat
    intervals: RatioIntervals = field(default_factory=RatioIntervals)

    @cached_property
    def measured(self) -> list[Run]:
        return [run for run in self.tables.runs if run.measured]


def tables(requests: Sequence[Request], inputs: TableInputs) -> tuple[list[Table], list[LongTable]]:
    maker = _TableMaker(inputs, requests)
    if requests:
        return [table for request in requests for table in maker.requested(request)], []
    usual = [table for request in maker.usual_requests() for table in maker.usual(request)]
    return [item for item in usual if isinstance(item, Table)], [item for item in usual if isinstance(item, LongTable)]


@dataclass(frozen=True)
class _TableMaker:
    inputs: TableInputs
    requests: Sequence[Request]

    @cached_property
    def counters(self) -> Mapping[Place, Mapping[str, float]]:
        patterns = {str(pattern) for request in self.requests for pattern in request.get("counters", ())}
        if not self.requests:
            patterns = {f"{probe}.*" for probe in self.inputs.tables.probes}
        return self.inputs.tables.details.named_counters(sorted(patterns))

    @cached_property
    def measured(self) -> ReportPoints:
        return self._points(self.inputs.measured, self.inputs.intervals)

    @cached_property
    def all_steps(self) -> ReportPoints:
        return self._points(self.inputs.tables.runs, self.inputs.intervals)

    def _points(self, runs: Iterable[Run], intervals: RatioIntervals) -> ReportPoints:
        axes, tables = self.inputs.axes, self.inputs.tables
        by_step: dict[str, list[Run]] = {}
        for run in runs:
            by_step.setdefault(run.step, []).append(run)
        return ReportPoints(
            points=[
                point
                for step, members in by_step.items()
                for point in points(members, step, [axis.name for axis in touching(axes, step)])
            ],
            axes=axes,
            steps=[*by_step],
            details=tables.details,
            counters=self.counters,
            caveat=self.inputs.caveat,
            intervals=intervals,
            units=tables.units,
        )

    def requested(self, request: Request) -> list[Table]:
        layout = _layout(request)
        report = self.all_steps if layout.sizes else self.measured
        if layout.sizes:
            where = {STEP: load_steps(self.inputs.tables.runs, layout.metrics), **request.get("where", {})}
            request = {**request, "where": where}
        if window := tuple(request.get("window", ())):
            report = self._window(window)
        chosen = choose_points(report.points, request.get("where", {}))
        form = arrangement(request, self.inputs.axes, chosen, self.inputs.base)
        made = [table for each in blocks(form, chosen, report) for table in form.layout.tables(each)]
        title = request.get("title", request.get("layout", ""))
        return made or [Table(title, (), (), notes=("there is nothing to show",))]

    def _window(self, window: tuple[str, ...]) -> ReportPoints:
        """Use the figures of a window alone, with intervals of their own; a step that was too short is left out."""
        figures = self.inputs.tables.details.window(window)
        runs = [run for run in self.inputs.measured if not run.metrics or run.place in figures]
        return self._points([replace(run, metrics=figures.get(run.place, {})) for run in runs], RatioIntervals())

    def usual_requests(self) -> Iterator[Request]:
        """List the tables of the kinds of the steps, about the steps that have their figures; then those of probes."""
        tables_by_kind = {run.kind: registry.default_tables(run.kind) for run in self.inputs.measured}
        for name in dict.fromkeys(name for names in tables_by_kind.values() for name in names):
            layout = LAYOUTS.get(name)
            runs = [run for run in self.inputs.measured if name in tables_by_kind[run.kind]]
            if name == DEFAULT_LAYOUT:
                yield from _response_times(runs)
                continue
            if layout.sizes:
                steps = load_steps(self.inputs.tables.runs, layout.metrics)
            else:
                steps = _steps(run for run in runs if layout.levels or _has_any(run, layout.metrics))
            if steps:
                yield {"layout": name, "where": {STEP: steps}, **self._build_base(layout)}
        for probe in self.inputs.tables.probes:
            yield from self._probe_requests(probe)

    def _build_base(self, layout: Layout) -> Mapping[str, Any]:
        """Compare builds, where there are several: published tables do."""
        builds = next((axis.labels for axis in self.inputs.axes if axis.name == BUILD), ())
        if not layout.compares or len(builds) < 2 or BUILD in self.inputs.base:
            return {}
        return {"base": {BUILD: most_able(self.inputs.axes, self.inputs.measured) or builds[0]}}

    def _probe_requests(self, probe: str) -> Iterator[Request]:
        """Ask for the seconds of a probe by step, and for what was counted around it."""
        if steps := _steps(run for run in self.inputs.measured if probe in run.metrics):
            yield {"layout": "probes", "metrics": [probe], "title": f"probe {probe}", "where": {STEP: steps}}
        prefix = f"{probe}."
        counting = {
            place
            for place, counters in self.counters.items()
            if any(value > 0 for name, value in counters.items() if name.startswith(prefix))
        }
        if steps := _steps(run for run in self.inputs.measured if run.place in counting):
            named = {"counters": [f"{prefix}*"], "top": TOP, "title": f"most of what was counted around {probe}"}
            yield {"layout": "counters", **named, "where": {STEP: steps}}

    def usual(self, request: Request) -> Iterator[Table | LongTable]:
        """Make the blocks that are short enough, and name the others."""
        name = request["layout"]
        report = self.all_steps if _layout(request).sizes else self.measured
        chosen = choose_points(report.points, request["where"])
        form = arrangement(request, self.inputs.axes, chosen, self.inputs.base)
        is_much = name in TOGETHER and _is_much(chosen)
        for key, members in groups(form, chosen, report):
            make = partial(_tables_with_figures, form, key, members, report)
            if name in REPEATING or is_much or (name in LINES and _is_much(members)):
                if any(_has_figures(form, point, report) for point in members):
                    title = Table(form.title, (), (), block_name(form, key)).name
                    yield LongTable(title, make, REPEATED if name in REPEATING else TOO_LONG)
            else:
                yield from make()


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


def _layout(request: Request) -> Layout:
    return LAYOUTS.get(request.get("layout", DEFAULT_LAYOUT))


def _steps(runs: Iterable[Run]) -> list[str]:
    return [*dict.fromkeys(run.step for run in runs)]


def _has_any(run: Run, metrics: Iterable[str]) -> bool:
    """Count a run without any figures yet as one that may have them."""
    return not run.metrics or any(metric in run.metrics for metric in metrics)


def _is_much(points: Sequence[Point]) -> bool:
    return sum(point.status == Status.DONE for point in points) > MOST_ROWS


def _tables_with_figures(form: Arrangement, key: Labels, points: Sequence[Point], report: ReportPoints) -> list[Table]:
    return [table for table in form.layout.tables(block(form, key, points, report)) if has_figures(table)]


def _has_figures(form: Arrangement, point: Point, report: ReportPoints) -> bool:
    if form.layout.levels:
        return any(place in report.details.places_with_levels for place in point.places)
    return any(name in run.metrics for run in point.runs for name in form.layout.metrics)


def has_figures(table: Table) -> bool:
    """Tell if a cell has a figure other than 0."""
    cells = [cell for row in table.rows for cell, column in zip(row, table.columns, strict=True) if not column.label]
    return any(cell.kind not in (ABSENT, *WITHOUT_FIGURE) and not _is_zero(cell) for cell in cells)


def _is_zero(cell: Cell) -> bool:
    return cell.value == 0 or (cell.value is None and cell.text != "" and not cell.text.strip("0.%"))


def load_steps(runs: Sequence[Run], metrics: Sequence[str]) -> list[str]:
    """List the steps of a table of loads: those that load, the last one before a measured step, and the last of all.

    Right after a load a server does not know how large its tables are; after the wait that follows it does.
    """
    loads = [run for run in runs if any(name in run.metrics for name in metrics)]
    if not loads:
        return []
    alike = [run for run in runs if run.labels.keys() == loads[0].labels.keys()]
    steps = _steps(alike)
    measured = {run.step for run in alike if run.measured}
    before = [*takewhile(lambda step: step not in measured, steps)]
    return [*dict.fromkeys((*_steps(loads), *before[-1:], steps[-1]))]
