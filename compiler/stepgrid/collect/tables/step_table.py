"""The table `steps`: what the plan asks for, joined with what the steps of its results say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from stepgrid.collect.tables.parquet import named, quoted
from stepgrid.model.result_schema import SEPARATOR
from stepgrid.store.status.results import DONE, FAILED

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PLANNED = {"number": "INTEGER"}  # of the row: joining keeps no order
_READ = f"(f.stage IS NOT NULL AND p.status = {quoted(DONE)})"
_FAULT = f"({_READ} AND f.error IS NOT NULL)"
_SAID: Mapping[str, str] = {
    "status": f"CASE WHEN {_FAULT} THEN {quoted(FAILED)} ELSE p.status END",
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
