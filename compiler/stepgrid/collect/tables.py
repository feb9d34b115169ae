"""Tables of a plan: what it asks for, with the figures of its results. Missing is missing, never 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.collect import parquet
from stepgrid.collect.counts import profile_counts
from stepgrid.collect.parquet import NUMBER, Row
from stepgrid.collect.result_figures import ResultFigures
from stepgrid.collect.samples import PER_SECOND
from stepgrid.collect.step_figures import StepFigures
from stepgrid.model import result_schema
from stepgrid.model.figures import ClientRate
from stepgrid.model.metrics import percentile
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.model.status import NodeStatus, Status
from stepgrid.plan.expectations import derived_figures, names_of_step
from stepgrid.store.paths import STEPS_TABLE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Tables that grow with each result.

GROWING: Mapping[str, Mapping[str, str]] = {
    **result_schema.GROWING,
    "samples": {**result_schema.SAMPLES, **dict.fromkeys(PER_SECOND, NUMBER)},
}


class StepKey(NamedTuple):
    """The columns that rows of a step begin with."""

    stage: str
    attempt: str
    position: int
    step: str


class GrowingTable:
    """Columns, to which a step adds some rows; they are arrays at once, as there may be millions."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types
        self._keys: list[StepKey] = []
        self._counts: list[int] = []
        self._columns: dict[str, list[Any]] = {name: [] for name in types if name not in StepKey._fields}

    def add(self, key: StepKey, columns: Mapping[str, Sequence[Any]]) -> None:
        """Add rows of a step; None is missing, and so is a column that is not given."""
        import numpy as np

        if count := len(next(iter(columns.values()), ())):
            self._keys.append(key)
            self._counts.append(count)
            for name, parts in self._columns.items():
                kind = float if self.types[name] == NUMBER else object
                parts.append(np.array(columns.get(name) or [None] * count, kind))

    def arrays(self) -> dict[str, object]:
        import numpy as np

        keys = zip(*self._keys, strict=True) if self._keys else [()] * len(StepKey._fields)
        counts = np.array(self._counts, int)
        kinds = (object, object, int, object)
        arrays: dict[str, object] = {
            name: np.repeat(np.array(values, kind), counts)
            for name, values, kind in zip(StepKey._fields, keys, kinds, strict=True)
        }
        for name, parts in self._columns.items():
            is_number = self.types[name] == NUMBER
            values = np.concatenate(parts or [np.empty(0, float if is_number else object)])
            arrays[name] = np.where(np.isinf(values), np.nan, values) if is_number else values
        return arrays


class ResultTables:
    """Rows of the results of a plan, and the files that they are written to: one for each table."""

    def __init__(self, connection: DuckDBPyConnection, folder: Path) -> None:
        self._connection, self._folder = connection, folder
        self._tables = {name: GrowingTable(types) for name, types in GROWING.items()}
        self._figures: dict[tuple[str, str | None, int], Row] = {}  # by stage, attempt and position
        self._environment: list[Row] = []

    def add(self, stage: PlannedStage, result: Path, figures: ResultFigures) -> None:
        subject = f"{stage.id}/{result.name}"
        for position, step in enumerate(figures.steps):
            key = StepKey(stage.id, result.name, position, stage.steps[position].name)
            if not step.error:
                self._add_step(key, step)
            folder = f"{result}/steps/{figures.folders[position]}"
            self._figures[key[:3]] = {
                "started": result_schema.utc(figures.started[position]),
                "step_seconds": figures.seconds[position],
                "warnings": None if step.error else [*step.warnings],
                **(
                    {"status": Status.FAILED.value, "reason": step.error, "log": folder} if step.error else step.metrics
                ),
            }
        for scope, of_step, name, value in figures.environment:
            where = subject if of_step is None else f"{subject}/{of_step}"
            self._environment.append({"scope": scope, "subject": where, "name": name, "value": value})

    def add_profile(self, measured: PlannedStage, result: Path, figures: ResultFigures) -> None:
        """Add what was profiled of a measured stage to its counters; nothing else of a profile is a figure."""
        for position, step in enumerate(figures.steps):
            key = StepKey(measured.id, result.name, position, measured.steps[position].name)
            counts = [*profile_counts(step.counts, step.metrics)]
            self._tables["counters"].add(key, _columns(("source", "name", "grown"), counts))

    def _add_step(self, key: StepKey, step: StepFigures) -> None:
        tables = self._tables
        tables["samples"].add(key, step.samples)
        tables["series"].add(key, _columns(("second", "qps"), step.qps))
        tables["rates"].add(key, _columns(ClientRate._fields, step.rates))
        percentiles = ((percentile(name), value) for name, value in step.metrics.items())
        latencies = [(*part, value) for part, value in percentiles if part is not None]
        tables["latencies"].add(key, _columns(("operation", "percentile", "microseconds"), latencies))
        for part in step.histograms:
            tables["histograms"].add(key, {**part._asdict(), "operation": [part.operation or None] * len(part.least)})
        tables["counters"].add(key, _columns(("source", "name", "grown"), step.counts))
        tables["events"].add(key, _columns(("second", "seconds", "kind", "name", "source"), step.events))
        for name, records in (("levels", step.levels), ("sizes", step.sizes)):
            columns = [column for column in GROWING[name] if column not in StepKey._fields]
            tables[name].add(key, {column: [record.get(column) for record in records] for column in columns})

    def write(
        self, plan: Plan, metrics: Iterable[str], nodes: Mapping[str, NodeStatus], violations: Violations
    ) -> None:
        """Write the tables of the results; `steps`, the last, stands for all of them."""
        for name, table in self._tables.items():
            parquet.write_columns(self._connection, self._folder / f"{name}.parquet", table.types, table.arrays())
        columns = result_schema.steps([axis.name for axis in plan.axes], metrics)
        rows = planned_steps(plan, nodes, violations, self._figures)
        parquet.write_rows(self._connection, self._folder / STEPS_TABLE, columns, rows)

    def write_environment(self, rows: Iterable[Row]) -> None:
        """`rows`: those that are not about a result."""
        path = self._folder / "environment.parquet"
        parquet.write_rows(self._connection, path, result_schema.ENVIRONMENT, chain(self._environment, rows))


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """An empty text, the operation of all of them, is missing."""
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    if "operation" in columns:
        columns["operation"] = [name or None for name in columns["operation"]]
    return columns


# The table `steps`: a row per cell, step and repeat.


Violations = Mapping[tuple[str, str, int], str]  # cell, stage, position of the step -> what voids its figures


FROM_RESULT = ("status", "reason", "log")  # of a step whose output cannot be read, where its stage is done


def planned_steps(
    plan: Plan,
    nodes: Mapping[str, NodeStatus],
    violations: Violations,
    figures: Mapping[tuple[str, str | None, int], Row],
) -> Iterator[Row]:
    """Rows of what the plan asks for, with the figures of its results.

    A cell that shares the stage of an earlier one says so in `same_as`.
    An axis that does not change a step has no label there: the load before a checkpoint is of no cache and no threads.
    """
    first: dict[tuple[str, int], str] = {}
    columns = result_schema.axis_columns([axis.name for axis in plan.axes])
    builds = {build.id: build.name for build in plan.builds}
    engines = {stage.id: stage.build for stage in plan.stages}  # loads may have links of their own
    clients = {stage.id: [step.client for step in stage.steps] for stage in plan.stages if stage.clients}
    stages = {stage.id: stage for stage in plan.stages}
    priced = {name for name, machine in plan.machines.items() if machine.get("price")}
    for cell in plan.cells:
        build = cell.labels.get("build") or builds.get(cell.build, cell.build)
        for step, repeat in ((step, repeat) for step in cell.steps for repeat in cell.repeats):
            stage = repeat.stages[step.stage]
            node, step_name = nodes[stage], step.step or step.name  # the variables of a live grid have columns
            changed = [axis.name for axis in plan.axes if axis.steps is None or step_name in axis.steps]
            owner = first.setdefault((stage, step.index), cell.id)
            violation = violations.get((cell.id, stage, step.index))
            result_figures = {} if violation else figures.get((stage, node.attempt, step.index), {})
            if result_figures and (plan.report.derived or stages[stage].hardware in priced):
                planned, labels = stages[stage].steps[step.index], {**cell.labels, **step.variables}
                machine = plan.machines.get(stages[stage].hardware, plan.hardware)
                names = {**names_of_step(planned, labels, machine), **result_figures}
                result_figures = {**result_figures, **derived_figures(plan.report.derived, names)}
            is_done = node.status is Status.DONE
            yield {
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
                **{name: value for name, value in result_figures.items() if is_done or name not in FROM_RESULT},
            }
