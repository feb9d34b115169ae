"""Rows of the tables, from the plan and what became of its stages. Missing is missing, never 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from stepgrid.collect.tables.parquet import Row, named, quoted
from stepgrid.model import result_schema
from stepgrid.model.plan import Axis, CellStep, Plan, PlannedCell, Repeat
from stepgrid.model.result_schema import SEPARATOR
from stepgrid.model.status import NodeStatus, Status

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def steps(plan: Plan, nodes: Mapping[str, NodeStatus]) -> Iterator[Row]:
    """A row per cell, step and repeat; a cell that shares the stage of an earlier one says so in `same_as`.

    An axis that does not change a step has no label there: the load before a checkpoint is of no cache and no threads.
    """
    first: dict[tuple[str, int], str] = {}
    number = 0
    columns = result_schema.axis_columns([axis.name for axis in plan.axes])
    builds = {build.id: build.name for build in plan.builds}
    ids = {build.name: build.id for build in plan.builds}
    clients = {stage.id: [step.client for step in stage.steps] for stage in plan.stages if stage.clients}
    for cell in plan.cells:
        fixed = {"schema": result_schema.SCHEMA, "plan": plan.digest, "cell": cell.id}
        build = cell.labels.get("build") or builds.get(cell.build, cell.build)
        for step, repeat in _runs(cell):
            stage = repeat.stages[step.stage]
            owner = first.setdefault((stage, step.index), cell.id)
            number += 1
            yield {
                "number": number,
                **fixed,
                **{columns[axis.name]: _label(axis, step, cell) for axis in plan.axes if _changes(axis, step)},
                **_where(step, repeat, stage),
                "build": build,
                "build_id": ids.get(cell.build, cell.build),
                "client_id": clients[stage][step.index] if stage in clients else None,
                "same_as": None if owner == cell.id else owner,
                **_outcome(nodes[stage]),
            }


def _label(axis: Axis, step: CellStep, cell: PlannedCell) -> str | None:
    return step.variables.get(axis.name, cell.labels.get(axis.name))


def _shown(step: CellStep) -> str:
    """The variables of a live grid have columns of their own."""
    return step.step or step.name


def _changes(axis: Axis, step: CellStep) -> bool:
    return axis.steps is None or _shown(step) in axis.steps


def _runs(cell: PlannedCell) -> Iterator[tuple[CellStep, Repeat]]:
    return ((step, repeat) for step in cell.steps for repeat in cell.repeats)


def _where(step: CellStep, repeat: Repeat, stage: str) -> Row:
    return {
        "step": _shown(step),
        "kind": step.kind,
        "measured": step.measured,
        "load": repeat.load + 1,  # as people count
        "run": repeat.run + 1,
        "stage": stage,
        "position": step.index,
    }


def _outcome(node: NodeStatus) -> Row:
    """What a step that is done says itself is joined to it."""
    status, reason = node.status.value, None if node.status is Status.DONE else node.sentence
    return {"attempt": node.attempt, "status": status, "reason": reason, "log": node.log and str(node.log)}


# The table `steps`: what the plan asks for, joined with what the steps of its results say.

PLANNED = {"number": "INTEGER"}  # of the row: joining keeps no order
_READ = f"(f.stage IS NOT NULL AND p.status = {quoted(Status.DONE)})"
_FAULT = f"({_READ} AND f.error IS NOT NULL)"
_SAID: Mapping[str, str] = {
    "status": f"CASE WHEN {_FAULT} THEN {quoted(Status.FAILED)} ELSE p.status END",
    "reason": f"CASE WHEN {_FAULT} THEN f.error ELSE p.reason END",
    "log": f"CASE WHEN {_FAULT} THEN f.folder ELSE p.log END",
    "started": "f.started",
    "step_seconds": "f.step_seconds",
    "warnings": f"CASE f.warnings WHEN '' THEN []::VARCHAR[] ELSE string_split(f.warnings, {quoted(SEPARATOR)}) END",
}


def joined(
    connection: DuckDBPyConnection, planned: str, figures: str, types: Mapping[str, str], metrics: Iterable[str]
) -> str:
    """The query; `planned` and `figures` are what to select from."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {figures}").fetchall()
    there, wanted = {name for name, *_ in described}, set(metrics)
    shown = (_column(name, kind, there, name in wanted) for name, kind in types.items())
    on = "f.stage = p.stage AND f.attempt = p.attempt AND f.position = p.position"
    return f"SELECT {', '.join(shown)} FROM {planned} AS p LEFT JOIN {figures} AS f ON {on} ORDER BY p.number"


def _column(name: str, kind: str, there: set[str], is_metric: bool) -> str:
    column = named(name)
    said = _SAID.get(name, f"p.{column}")
    own = f"f.{column}" if name in there else "NULL"
    return f"CAST({own if is_metric else said} AS {kind}) AS {column}"
