"""Tables of a plan: what it asks for, joined with the figures of its results. Missing is missing, never 0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.collect import parquet
from stepgrid.collect.parquet import NUMBER, Row, named, quoted
from stepgrid.collect.samples import PER_SECOND
from stepgrid.collect.step_figures import Columns, ResultFigures, StepFigures
from stepgrid.model import result_schema
from stepgrid.model.figures import ClientRate
from stepgrid.model.plan import Plan
from stepgrid.model.result_schema import SEPARATOR
from stepgrid.model.status import NodeStatus, Status
from stepgrid.store.paths import STEPS_TABLE

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

# Tables that grow with each result.

LARGE = 600_000  # rows, after which a table goes on in another file
FIGURES = "figures"  # of steps, which `steps` is joined with; no table for readers
ATTEMPTS = "attempts"  # the part of `environment` that is about results
GROWING: Mapping[str, Mapping[str, str]] = {
    **{name: types for name, types in result_schema.PARTS.items() if name != ATTEMPTS},
    "samples": {**result_schema.SAMPLES, **dict.fromkeys(PER_SECOND, NUMBER)},
}
_POINT: Mapping[str, type] = {"stage": object, "attempt": object, "position": int, "step": object}


class Point(NamedTuple):
    """The columns that rows of a step begin with."""

    stage: str
    attempt: str
    position: int
    step: str


class GrowingTable:
    """Columns, to which a step adds some rows; its numbers are in arrays at once, as there may be millions."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types
        self.rows = 0
        self._points: list[Point] = []
        self._counts: list[int] = []
        self._columns: dict[str, list[Any]] = {name: [] for name in types if name not in Point._fields}

    def add(self, point: Point, columns: Mapping[str, Sequence[Any]]) -> None:
        """Add rows of a step; None is missing, and so is a column that is not given."""
        import numpy as np

        count = len(next(iter(columns.values()), ()))
        if not count:
            return
        self.rows += count
        self._points.append(point)
        self._counts.append(count)
        for name, parts in self._columns.items():
            if self.types[name] != NUMBER:
                parts += columns.get(name) or [None] * count
            else:
                parts.append(np.array(columns[name], float) if name in columns else np.full(count, np.nan))

    def arrays(self) -> dict[str, Any]:
        import numpy as np

        arrays: dict[str, Any] = {}
        for at, name in enumerate(Point._fields):
            if name in self.types:
                keys: NDArray[Any] = np.array([point[at] for point in self._points], _POINT[name])
                arrays[name] = np.repeat(keys, self._counts)
        for name, parts in self._columns.items():
            is_number = self.types[name] == NUMBER
            arrays[name] = _finite(np.concatenate(parts or [np.empty(0)])) if is_number else np.array(parts, object)
        return arrays


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    values[np.isinf(values)] = np.nan
    return values


class ResultTables:
    """Rows of results, written to files of a folder; then `steps` and `environment` are made with them."""

    def __init__(self, connection: DuckDBPyConnection, folder: Path) -> None:
        self._connection, self._folder = connection, folder
        self._number = 0  # of the next file of each table
        self._tables = _new_tables()
        self._figures: list[tuple[dict[str, Any], Mapping[str, float]]] = []
        self._environment: dict[str, list[str]] = {name: [] for name in result_schema.ENVIRONMENT}
        self._texts: dict[str, str] = {}  # results have most of their facts in common: each text is in memory once
        for name in GROWING:
            for path in (folder / f"{name}.parquet", *folder.glob(f"{name}.[0-9]*.parquet")):
                path.unlink(missing_ok=True)

    def add(self, stage: str, result: Path, names: Sequence[str], figures: ResultFigures) -> None:
        """`names`: of the steps."""
        for position, (name, step) in enumerate(zip(names, figures.steps, strict=True)):
            point = Point(stage, result.name, position, name)
            if not step.error:
                self._add_step(point, step)
            facts = {
                "stage": stage,
                "attempt": result.name,
                "position": position,
                "folder": f"{result}/steps/{figures.folders[position]}",
                "started": result_schema.utc(figures.started[position]),
                "error": step.error,
                "warnings": None if step.error else SEPARATOR.join(step.warnings),
                "step_seconds": figures.seconds[position],
            }
            self._figures.append((facts, step.metrics))
        subject = f"{stage}/{result.name}"
        for scope, of_step, name, value in figures.environment:
            where = subject if of_step is None else f"{subject}/{of_step}"
            for column, text in zip(self._environment.values(), (scope, where, name, value), strict=True):
                column.append(self._texts.setdefault(text, text))

    def add_samples(self, stage: str, result: Path, names: Sequence[str], samples: Sequence[Columns]) -> None:
        for position, (name, columns) in enumerate(zip(names, samples, strict=True)):
            self._tables["samples"].add(Point(stage, result.name, position, name), columns)
        if max(table.rows for table in self._tables.values()) >= LARGE:
            self.write()

    def _add_step(self, point: Point, step: StepFigures) -> None:
        tables = self._tables
        tables["series"].add(point, _columns(("second", "qps"), step.qps))
        tables["rates"].add(point, _columns(ClientRate._fields, step.rates))
        percentiles = ((percentile(name), value) for name, value in step.metrics.items())
        latencies = [(*part, value) for part, value in percentiles if part is not None]
        tables["latencies"].add(point, _columns(("operation", "percentile", "microseconds"), latencies))
        for part in step.histograms:
            tables["histograms"].add(point, {**part._asdict(), "operation": [part.operation or None] * len(part.least)})
        tables["counters"].add(point, _columns(("source", "name", "grown"), step.counts))
        for name, records in (("levels", step.levels), ("sizes", step.sizes)):
            columns = [column for column in GROWING[name] if column not in Point._fields]
            tables[name].add(point, {column: [record.get(column) for record in records] for column in columns})

    def write(self) -> None:
        """Write what was added since the last call: each table goes on in another file."""
        for name, table in self._tables.items():
            file = f"{name}.{self._number}.parquet" if self._number else f"{name}.parquet"
            parquet.write_columns(self._connection, self._folder / file, table.types, table.arrays())
        self._number += 1
        self._tables = _new_tables()

    def write_environment(self, rows: Iterable[Row]) -> None:
        """`rows`: those that are not about a result."""
        import numpy as np

        for row in rows:
            for name, column in self._environment.items():
                column.append(str(row[name]))
        arrays = {name: np.array(column, object) for name, column in self._environment.items()}
        path = self._folder / "environment.parquet"
        parquet.write_columns(self._connection, path, result_schema.ENVIRONMENT, arrays)

    def write_steps(self, plan: Plan, nodes: Mapping[str, NodeStatus], metrics: Sequence[str]) -> None:
        """`metrics`: the columns of the table beside those that are fixed. It comes last, and stands for all tables."""
        path, axes = self._folder / STEPS_TABLE, [axis.name for axis in plan.axes]
        columns = result_schema.steps(axes, ())
        planned_columns = {name: kind for name, kind in columns.items() if name not in _ONLY_FIGURES}
        present = [name for name in metrics if any(name in figures for _, figures in self._figures)]
        types, arrays = result_schema.figures(present), self._figure_arrays(present)
        with (
            parquet.selectable_rows(path, {**planned_columns, **NUMBERED}, planned_steps(plan, nodes)) as planned,
            parquet.registered(self._connection, FIGURES, types, arrays) as figures,
        ):
            casts = [f"CAST({_FROM_FIGURES.get(name, f'p.{named(name)}')} AS {kind})" for name, kind in columns.items()]
            values = [
                *casts,
                *(f"f.{named(name)}" if name in present else f"CAST(NULL AS {NUMBER})" for name in metrics),
            ]
            names = [named(name) for name in (*columns, *metrics)]
            selected = ", ".join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
            on = "f.stage = p.stage AND f.attempt = p.attempt AND f.position = p.position"
            query = f"SELECT {selected} FROM {planned} AS p LEFT JOIN {figures} AS f ON {on} ORDER BY p.number"
            parquet.write_query(self._connection, path, query)

    def _figure_arrays(self, metrics: Sequence[str]) -> dict[str, Any]:
        import numpy as np

        arrays: dict[str, Any] = {}
        for name, kind in result_schema.figures(()).items():
            values = [facts[name] for facts, _ in self._figures]
            arrays[name] = np.array(values, {"INTEGER": int, NUMBER: float}.get(kind, object))
        for name in metrics:
            arrays[name] = np.array([figures.get(name, np.nan) for _, figures in self._figures], float)
        return arrays


def _new_tables() -> dict[str, GrowingTable]:
    return {name: GrowingTable(types) for name, types in GROWING.items()}


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """An empty text, the operation of all of them, is missing."""
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    if "operation" in columns:
        columns["operation"] = [name or None for name in columns["operation"]]
    return columns


_PERCENTILE = re.compile(r"(?:(?P<operation>[a-z]+)_)?p(?P<whole>\d+)(?:_(?P<rest>\d+))?_us")


@lru_cache(4096)  # of the same few names for every step
def percentile(metric: str) -> tuple[str | None, float] | None:
    """p99_9_us -> (None, 99.9), read_p50_us -> ("read", 50); None for a metric that is no percentile."""
    match = _PERCENTILE.fullmatch(metric)
    return (match["operation"], float(f"{match['whole']}.{match['rest'] or 0}")) if match else None


# The table `steps`: a row per cell, step and repeat.


def planned_steps(plan: Plan, nodes: Mapping[str, NodeStatus]) -> Iterator[Row]:
    """Rows of what the plan asks for; a cell that shares the stage of an earlier one says so in `same_as`.

    An axis that does not change a step has no label there: the load before a checkpoint is of no cache and no threads.
    """
    first: dict[tuple[str, int], str] = {}
    number = 0
    columns = result_schema.axis_columns([axis.name for axis in plan.axes])
    builds = {build.id: build.name for build in plan.builds}
    ids = {build.name: build.id for build in plan.builds}
    clients = {stage.id: [step.client for step in stage.steps] for stage in plan.stages if stage.clients}
    for cell in plan.cells:
        build = cell.labels.get("build") or builds.get(cell.build, cell.build)
        for step, repeat in ((step, repeat) for step in cell.steps for repeat in cell.repeats):
            stage = repeat.stages[step.stage]
            node, step_name = nodes[stage], step.step or step.name  # the variables of a live grid have columns
            changed = [axis.name for axis in plan.axes if axis.steps is None or step_name in axis.steps]
            owner = first.setdefault((stage, step.index), cell.id)
            number += 1
            yield {
                "number": number,
                "schema": result_schema.SCHEMA,
                "plan": plan.digest,
                "cell": cell.id,
                **{columns[name]: step.variables.get(name, cell.labels.get(name)) for name in changed},
                "step": step_name,
                "kind": step.kind,
                "measured": step.measured,
                "load": repeat.load + 1,  # as people count
                "run": repeat.run + 1,
                "stage": stage,
                "position": step.index,
                "build": build,
                "build_id": ids.get(cell.build, cell.build),
                "client_id": clients[stage][step.index] if stage in clients else None,
                "same_as": None if owner == cell.id else owner,
                "attempt": node.attempt,  # how the stage ended, until its figures say more
                "status": node.status.value,
                "reason": None if node.status is Status.DONE else node.sentence,
                "log": node.log and str(node.log),
            }


NUMBERED = {"number": "INTEGER"}  # of the row: joining keeps no order
_ONLY_FIGURES = ("started", "step_seconds", "warnings")
_READ = f"(f.stage IS NOT NULL AND p.status = {quoted(Status.DONE)})"
_FAULT = f"({_READ} AND f.error IS NOT NULL)"
_FROM_FIGURES: Mapping[str, str] = {
    "status": f"CASE WHEN {_FAULT} THEN {quoted(Status.FAILED)} ELSE p.status END",
    "reason": f"CASE WHEN {_FAULT} THEN f.error ELSE p.reason END",
    "log": f"CASE WHEN {_FAULT} THEN f.folder ELSE p.log END",
    "started": "f.started",
    "step_seconds": "f.step_seconds",
    "warnings": f"CASE f.warnings WHEN '' THEN []::VARCHAR[] ELSE string_split(f.warnings, {quoted(SEPARATOR)}) END",
}
