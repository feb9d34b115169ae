"""One collect per experiment: reads what the store has for a plan and writes the Parquet tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stepgrid.collect.figures import probes
from stepgrid.collect.quarantine import quarantine
from stepgrid.collect.tables import environment, history, parquet, steps
from stepgrid.collect.tables.columns import columns
from stepgrid.collect.tables.part import FIGURES, PARTS
from stepgrid.collect.tables.parts import Parts
from stepgrid.model import result_schema
from stepgrid.model.metrics.metric import Metric
from stepgrid.model.plan import Plan
from stepgrid.model.status import BrokenRecord, NodeStatus, Status
from stepgrid.plugins.metrics import METRICS, own
from stepgrid.store.status.integrity import note_sound
from stepgrid.store.status.reader import StatusReader
from stepgrid.store.status.results import broken_text
from stepgrid.store.store import Store

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FIXED = {"history": result_schema.HISTORY, "environment": result_schema.ENVIRONMENT, "metrics": result_schema.METRICS}


def collect(store: Store, plan: Plan) -> dict[str, NodeStatus]:
    """Writes the tables and says what became of each stage; `steps` comes last, so that it stands for all."""
    folder = store.tables(plan.digest)
    folder.mkdir(parents=True, exist_ok=True)
    with parquet.connect() as connection:
        known, parts = _read(connection, store, plan, folder)
        _write(connection, folder, store, plan, known, parts)
    return known


def _read(
    connection: DuckDBPyConnection, store: Store, plan: Plan, folder: Path
) -> tuple[dict[str, NodeStatus], Parts]:
    """Again while damaged results could be set aside: an older one may count instead."""
    stages = {stage.id: stage for stage in plan.stages}
    while True:
        parts = Parts(store, plan.digest, folder)
        found = StatusReader(store, plan).read()
        note_sound(store, found)
        known = dict(found.nodes)
        damaged = parts.update(connection, stages, known)
        left = [each for each in damaged if not quarantine(store, each)]
        if len(left) == len(damaged):
            return known | {each.node: _stuck(known[each.node], each) for each in left}, parts


def _stuck(node: NodeStatus, broken: BrokenRecord) -> NodeStatus:
    """One that could not be moved has no figures either."""
    return NodeStatus(node.id, node.title, Status.INTERRUPTED, broken_text(broken.folder, broken.why))


def _write(
    connection: DuckDBPyConnection,
    folder: Path,
    store: Store,
    plan: Plan,
    known: Mapping[str, NodeStatus],
    parts: Parts,
) -> None:
    metrics = {**METRICS, **probes.metrics(plan.stages), **own(step for stage in plan.stages for step in stage.steps)}
    types = result_schema.steps([axis.name for axis in plan.axes], metrics)

    def table(name: str, columns: Mapping[str, str], lines: Iterator[parquet.Row]) -> None:
        parquet.write(connection, folder / f"{name}.parquet", columns, lines)

    attempts = {stage.id: known[stage.id].attempt for stage in plan.stages}
    table("history", result_schema.HISTORY, history.rows(store, plan, attempts))
    table("metrics", result_schema.METRICS, _metrics(metrics))
    _environment(connection, folder, environment.rows(store, plan), parts)
    grown = {name: each for name, each in PARTS.items() if name != "attempts"}
    table("columns", result_schema.COLUMNS, columns({**grown, **FIXED, "steps": types}, metrics))
    path = folder / "steps.parquet"
    planned = {**{name: kind for name, kind in types.items() if name not in metrics}, **steps.PLANNED}
    with parquet.lines(path, planned, steps.steps(plan, known)) as source:
        query = steps.joined(connection, source, parts.files(FIGURES), types, metrics)
        parquet.write_query(connection, path, query)


def _environment(connection: DuckDBPyConnection, folder: Path, own: Iterator[parquet.Row], parts: Parts) -> None:
    path = folder / "environment.parquet"
    with parquet.lines(path, result_schema.ENVIRONMENT, own) as source:
        query = f"SELECT * FROM {source} UNION ALL SELECT * FROM {parts.files('attempts')}"
        parquet.write_query(connection, path, query)


def _metrics(metrics: Mapping[str, Metric]) -> Iterator[parquet.Row]:
    for name, metric in metrics.items():
        yield {
            "schema": result_schema.SCHEMA,
            "name": name,
            "unit": metric.unit,
            "better": metric.better,
            "definition": metric.definition,
            "measured_over": metric.window,
        }
