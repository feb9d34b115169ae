"""One collect per experiment: reads what the store has for a plan and writes the Parquet tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from compiler.collect import environment, history, parquet, rows, schema
from compiler.collect.columns import columns
from compiler.collect.figures import figures
from compiler.collect.latencies import latencies
from compiler.collect.metric import Metric
from compiler.collect.metrics import METRICS
from compiler.collect.own_metrics import own
from compiler.collect.rows import Collected
from compiler.collect.states import DONE, State, states
from compiler.collect.usage import series
from compiler.plan.model import Plan, PlannedStage
from compiler.store.store import Store

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLES = "tables"


def collect(store: Store, plan: Plan) -> dict[str, State]:
    """Writes the tables and says what became of each stage; `steps` comes last, so that it stands for all."""
    known = states(store, plan)
    stages = {stage.id: stage for stage in plan.stages}
    collected = {node: _collected(stages[node], state) for node, state in known.items()}
    folder = store.summary(plan.digest) / TABLES
    folder.mkdir(parents=True, exist_ok=True)
    with parquet.connect() as connection:
        _write(connection, folder, store, plan, collected)
    return known


def _collected(stage: PlannedStage, state: State) -> Collected:
    if state.status != DONE or state.result is None:
        return Collected(state)
    return Collected(state, tuple(figures(state.result, state.folders, stage.steps)))


def _write(
    connection: DuckDBPyConnection, folder: Path, store: Store, plan: Plan, collected: Mapping[str, Collected]
) -> None:
    written: dict[str, Mapping[str, str]] = {}

    def table(name: str, types: Mapping[str, str], lines: Iterator[parquet.Row]) -> None:
        written[name] = types
        parquet.write(connection, folder / f"{name}.parquet", types, lines)

    usage = list(_samples(plan, collected))
    names = sorted({name for row in usage for name in row} - set(schema.samples(())))
    table("series", schema.SERIES, rows.series(plan, collected))
    table("samples", schema.samples(names), iter(usage))
    table("latencies", schema.LATENCIES, latencies(plan, collected))
    attempts = {node: each.state.attempt for node, each in collected.items()}
    table("history", schema.HISTORY, history.rows(store, plan, attempts))
    table("environment", schema.ENVIRONMENT, environment.rows(store, plan, collected))
    metrics = {**METRICS, **own(plan.stages)}
    table("metrics", schema.METRICS, _metrics(metrics))
    steps = schema.steps([axis.name for axis in plan.axes], metrics)
    table("columns", schema.COLUMNS, columns({**written, "steps": steps}, metrics))
    table("steps", steps, rows.steps(plan, collected))


def _samples(plan: Plan, collected: Mapping[str, Collected]) -> Iterator[parquet.Row]:
    for row, _, state, index in rows.points(plan, collected):
        yield from ({**row, **second} for second in series(state.folders[index]))


def _metrics(metrics: Mapping[str, Metric]) -> Iterator[parquet.Row]:
    for name, metric in metrics.items():
        yield {
            "schema": schema.SCHEMA,
            "name": name,
            "unit": metric.unit,
            "better": metric.better,
            "definition": metric.definition,
            "measured_over": metric.window,
        }
