"""Tables of a plan: what it asks for, joined with the figures of its results. Missing is missing, never 0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.collect import parquet
from stepgrid.collect.counts import profile_counts
from stepgrid.collect.parquet import NUMBER, Row, named, quoted
from stepgrid.collect.samples import PER_SECOND
from stepgrid.collect.step_figures import Columns, ResultFigures, StepFigures
from stepgrid.host.files import read_json, sha256, write_json
from stepgrid.model import result_schema
from stepgrid.model.figures import ClientRate
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.model.result_schema import SEPARATOR
from stepgrid.model.status import NodeStatus, Status
from stepgrid.store.paths import STEPS_TABLE
from stepgrid.store.store import revision

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

# Tables that grow with each result.

LARGE = 600_000  # rows, after which a table goes on in another file
PARTS = "parts"  # folder of what is no table for readers
FIGURES = "figures"  # of steps, which `steps` is joined with
ATTEMPTS = "attempts"  # the rows of `environment` that are about results
SMALL, MOST_SMALL = 50, 20  # results of a small part; as many of them are kept, as reading many files is slow
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
            if self.types[name] == NUMBER:
                values = np.concatenate(parts or [np.empty(0)])
                arrays[name] = np.where(np.isinf(values), np.nan, values)
            else:
                arrays[name] = np.array(parts, object)
        return arrays


class ResultTables:
    """Rows of results, written to files of a folder in parts; then `steps` and `environment` are made with them.

    A part is what was written at one time: a file of each table, and a record in PARTS. Results never change, so the
    next collect keeps the parts that it would write again.
    """

    def __init__(self, connection: DuckDBPyConnection, folder: Path, metrics: Sequence[str]) -> None:
        """`metrics`: the columns of `steps` beside those that are fixed."""
        self._connection, self._folder, self._metrics = connection, folder, metrics
        self._marks: Mapping[str, str] = {}
        self._parts: set[int] = set()
        self._begin_part()

    def keep_parts(self, marks: Mapping[str, str]) -> set[str]:
        """Keep the parts of results that have the same marks, and return these results; remove other files.

        `marks`: by stage/attempt, what changes when the figures of a result do; a result without one is read each time.
        """
        records = {path: read_json(path) for path in self._folder.glob(f"{PARTS}/*.json") if path.stem.isdecimal()}
        current = [(path, record) for path, record in sorted(records.items()) if self._is_current(record, marks)]
        if sum(len(record["results"]) < SMALL for _, record in current) > MOST_SMALL:
            current = [(path, record) for path, record in current if len(record["results"]) >= SMALL]
        results, files = set[str](), set[Path]()
        for path, record in current:
            if results.isdisjoint(record["results"]):  # two processes may have collected at once
                self._parts.add(int(path.stem))
                results |= record["results"].keys()
                files |= {path, *(self._folder / name for name in record["files"])}
        older = [self._folder.glob(f"{PARTS}/*"), *(parquet.table_files(self._folder, name) for name in GROWING)]
        for path in {path for paths in older for path in paths} - files:
            path.unlink(missing_ok=True)
        self._marks = marks
        return results

    def _is_current(self, record: Mapping[str, Any], marks: Mapping[str, str]) -> bool:
        """Compare the code that wrote a part, its results and its files."""
        try:
            is_same = record["code"] == revision() and record["results"].items() <= marks.items()
            return is_same and all(sha256(self._folder / name) == digest for name, digest in record["files"].items())
        except (LookupError, TypeError, AttributeError, OSError):  # a record that is none, a file that is gone
            return False

    def _begin_part(self) -> None:
        self._tables = {name: GrowingTable(types) for name, types in GROWING.items()}
        self._figures: list[tuple[dict[str, Any], Mapping[str, float]]] = []
        self._environment: dict[str, list[str]] = {name: [] for name in result_schema.ENVIRONMENT}
        self._texts: dict[str, str] = {}  # results have most of their facts in common: each text is in memory once
        self._results: dict[str, str | None] = {}  # with their marks

    def add(self, stage: PlannedStage, result: Path, figures: ResultFigures, samples: Sequence[Columns]) -> None:
        subject = f"{stage.id}/{result.name}"
        self._results[subject] = self._marks.get(subject)
        for position, step in enumerate(figures.steps):
            point = Point(stage.id, result.name, position, stage.steps[position].name)
            self._tables["samples"].add(point, samples[position])
            if not step.error:
                self._add_step(point, step)
            facts = {
                "stage": stage.id,
                "attempt": result.name,
                "position": position,
                "folder": f"{result}/steps/{figures.folders[position]}",
                "started": result_schema.utc(figures.started[position]),
                "error": step.error,
                "warnings": None if step.error else SEPARATOR.join(step.warnings),
                "step_seconds": figures.seconds[position],
            }
            self._figures.append((facts, step.metrics))
        for scope, of_step, name, value in figures.environment:
            where = subject if of_step is None else f"{subject}/{of_step}"
            for column, text in zip(self._environment.values(), (scope, where, name, value), strict=True):
                column.append(self._texts.setdefault(text, text))
        if max(table.rows for table in self._tables.values()) >= LARGE:
            self.write_part()

    def add_profile(self, measured: PlannedStage, result: Path, figures: ResultFigures) -> None:
        """Add what was profiled of a measured stage to its counters; nothing else of a profile is a figure."""
        subject = f"{result.parent.name}/{result.name}"
        self._results[subject] = self._marks.get(subject)
        for position, step in enumerate(figures.steps):
            counts = [*profile_counts(step.counts, step.metrics)]
            point = Point(measured.id, result.name, position, measured.steps[position].name)
            self._tables["counters"].add(point, _columns(("source", "name", "grown"), counts))

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
        tables["events"].add(point, _columns(("second", "seconds", "kind", "name", "source"), step.events))
        for name, records in (("levels", step.levels), ("sizes", step.sizes)):
            columns = [column for column in GROWING[name] if column not in Point._fields]
            tables[name].add(point, {column: [record.get(column) for record in records] for column in columns})

    def write_part(self) -> None:
        """Write what was added since the last call; without results, only where there is no part."""
        if self._parts and not self._results:
            return
        number = next(number for number in count() if number not in self._parts)
        self._parts.add(number)
        (self._folder / PARTS).mkdir(exist_ok=True)
        files = {}
        for name, types, arrays in self._part_columns(number):
            parquet.write_columns(self._connection, self._folder / name, types, arrays)
            files[name] = sha256(self._folder / name)
        record = {"code": revision(), "results": self._results, "files": files}
        write_json(self._folder / PARTS / f"{number}.json", record, durable=False)
        self._begin_part()

    def _part_columns(self, number: int) -> Iterator[tuple[str, Mapping[str, str], dict[str, Any]]]:
        """Name the files, with types and arrays: one after the other, as there may be millions of rows."""
        import numpy as np

        for name, table in self._tables.items():
            yield parquet.table_file(name, number), table.types, table.arrays()
        yield _part_file(FIGURES, number), *self._figure_columns()
        texts: dict[str, Any] = {name: np.array(column, object) for name, column in self._environment.items()}
        yield _part_file(ATTEMPTS, number), result_schema.ENVIRONMENT, texts

    def _figure_columns(self) -> tuple[Mapping[str, str], dict[str, Any]]:
        import numpy as np

        present = set().union(*(figures for _, figures in self._figures))
        types = result_schema.figures(name for name in self._metrics if name in present)
        arrays: dict[str, Any] = {}
        for name, kind in types.items():
            if name in present:
                arrays[name] = np.array([figures.get(name, np.nan) for _, figures in self._figures], float)
            else:
                values = [facts[name] for facts, _ in self._figures]
                arrays[name] = np.array(values, {"INTEGER": int, NUMBER: float}.get(kind, object))
        return types, arrays

    def write_environment(self, rows: Iterable[Row]) -> None:
        """`rows`: those that are not about a result."""
        path = self._folder / "environment.parquet"
        with parquet.selectable_rows(path, result_schema.ENVIRONMENT, rows) as source:
            query = f"SELECT * FROM {self._parts_of(ATTEMPTS)} UNION ALL SELECT * FROM {source}"
            parquet.write_query(self._connection, path, query)

    def write_steps(self, plan: Plan, nodes: Mapping[str, NodeStatus], violations: Violations) -> None:
        """Write the last table, which stands for all of them."""
        path, axes = self._folder / STEPS_TABLE, [axis.name for axis in plan.axes]
        columns, figures = result_schema.steps(axes, ()), self._parts_of(FIGURES)
        planned_columns = {name: kind for name, kind in columns.items() if name not in _ONLY_FIGURES}
        rows = planned_steps(plan, nodes, violations)
        present = {row[0] for row in self._connection.execute(f"DESCRIBE SELECT * FROM {figures}").fetchall()}
        with parquet.selectable_rows(path, {**planned_columns, **NUMBERED}, rows) as planned:
            casts = [f"CAST({_FROM_FIGURES.get(name, f'p.{named(name)}')} AS {kind})" for name, kind in columns.items()]
            values = [
                *casts,
                *(f"f.{named(name)}" if name in present else f"CAST(NULL AS {NUMBER})" for name in self._metrics),
            ]
            names = [named(name) for name in (*columns, *self._metrics)]
            selected = ", ".join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
            on = "NOT p.void AND f.stage = p.stage AND f.attempt = p.attempt AND f.position = p.position"
            query = f"SELECT {selected} FROM {planned} AS p LEFT JOIN {figures} AS f ON {on} ORDER BY p.number"
            parquet.write_query(self._connection, path, query)

    def _parts_of(self, table: str) -> str:
        return parquet.files(self._folder / _part_file(table, number) for number in sorted(self._parts))


def _part_file(name: str, number: int) -> str:
    return f"{PARTS}/{name}.{number}.parquet"


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """An empty text, the operation of all of them, is missing."""
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    if "operation" in columns:
        columns["operation"] = [name or None for name in columns["operation"]]
    return columns


_PERCENTILE = re.compile(r"(?:(?P<operation>[a-z0-9_]+)_)?p(?P<whole>\d+)(?:_(?P<rest>\d+))?_us")


@lru_cache(4096)  # of the same few names for every step
def percentile(metric: str) -> tuple[str | None, float] | None:
    """p99_9_us -> (None, 99.9), read_p50_us -> ("read", 50); None for a metric that is no percentile."""
    match = _PERCENTILE.fullmatch(metric)
    return (match["operation"], float(f"{match['whole']}.{match['rest'] or 0}")) if match else None


# The table `steps`: a row per cell, step and repeat.


Violations = Mapping[tuple[str, str, int], str]  # cell, stage, position of the step -> what voids its figures


def planned_steps(plan: Plan, nodes: Mapping[str, NodeStatus], violations: Violations) -> Iterator[Row]:
    """Rows of what the plan asks for; a cell that shares the stage of an earlier one says so in `same_as`.

    An axis that does not change a step has no label there: the load before a checkpoint is of no cache and no threads.
    """
    first: dict[tuple[str, int], str] = {}
    number = 0
    columns = result_schema.axis_columns([axis.name for axis in plan.axes])
    builds = {build.id: build.name for build in plan.builds}
    engines = {stage.id: stage.build for stage in plan.stages}  # loads may have links of their own
    clients = {stage.id: [step.client for step in stage.steps] for stage in plan.stages if stage.clients}
    for cell in plan.cells:
        build = cell.labels.get("build") or builds.get(cell.build, cell.build)
        for step, repeat in ((step, repeat) for step in cell.steps for repeat in cell.repeats):
            stage = repeat.stages[step.stage]
            node, step_name = nodes[stage], step.step or step.name  # the variables of a live grid have columns
            changed = [axis.name for axis in plan.axes if axis.steps is None or step_name in axis.steps]
            owner = first.setdefault((stage, step.index), cell.id)
            number += 1
            violation = violations.get((cell.id, stage, step.index))
            yield {
                "number": number,
                "void": violation is not None,
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
                "build_id": engines[stage],
                "client_id": clients[stage][step.index] if stage in clients else None,
                "same_as": None if owner == cell.id else owner,
                "attempt": node.attempt,  # how the stage ended, until its figures say more
                "status": Status.FAILED.value if violation else node.status.value,
                "reason": violation if violation or node.status is Status.DONE else node.sentence,
                "log": node.log and str(node.log),
            }


# the place of the row, as joining keeps no order; whether its figures are left out
NUMBERED = {"number": "INTEGER", "void": "BOOLEAN"}
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
