"""The columns of the tables, in one place; SCHEMA is raised when their meaning changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

SCHEMA = 1

_STEP = {
    "schema": "INTEGER",
    "plan": "VARCHAR",
    "cell": "VARCHAR",
}
_STEP_REST = {
    "step": "VARCHAR",
    "kind": "VARCHAR",
    "measured": "BOOLEAN",
    "build": "VARCHAR",
    "build_id": "VARCHAR",
    "load": "INTEGER",
    "run": "INTEGER",
    "stage": "VARCHAR",
    "position": "INTEGER",
    "attempt": "VARCHAR",
    "same_as": "VARCHAR",
    "status": "VARCHAR",
    "reason": "VARCHAR",
    "log": "VARCHAR",
    "started": "TIMESTAMP",
    "step_seconds": "DOUBLE",
    "warnings": "VARCHAR[]",
}
_POINT = {"stage": "VARCHAR", "attempt": "VARCHAR", "position": "INTEGER", "step": "VARCHAR"}

SERIES = {**_POINT, "second": "DOUBLE", "qps": "DOUBLE"}
LATENCIES = {**_POINT, "operation": "VARCHAR", "percentile": "DOUBLE", "microseconds": "DOUBLE"}
HISTORY = {
    **_POINT,
    **dict.fromkeys(("kind", "cell", "host"), "VARCHAR"),
    **dict.fromkeys(("load", "run"), "INTEGER"),
    "restored": "BOOLEAN",
    "qps": "DOUBLE",
}
ENVIRONMENT = {"scope": "VARCHAR", "subject": "VARCHAR", "name": "VARCHAR", "value": "VARCHAR"}
METRICS = {
    "schema": "INTEGER",
    **dict.fromkeys(("name", "unit", "better", "definition", "measured_over"), "VARCHAR"),
}
COLUMNS = dict.fromkeys(("table_name", "column_name", "type", "unit", "meaning"), "VARCHAR")


def steps(axes: Sequence[str], metrics: Iterable[str]) -> dict[str, str]:
    """A column per axis and, behind the fixed ones, a column per metric."""
    labels = dict.fromkeys(axis_columns(axes).values(), "VARCHAR")
    return {**_STEP, **labels, **_STEP_REST, **dict.fromkeys(metrics, "DOUBLE")}


def samples(names: Iterable[str]) -> dict[str, str]:
    return {**_POINT, **dict.fromkeys(names, "DOUBLE")}


def axis_columns(axes: Sequence[str]) -> Mapping[str, str]:
    """Axis -> column. SQL does not tell upper from lower case: the second of two such axes gets a number."""
    columns: dict[str, str] = {}
    for axis in axes:
        column = f"axis_{axis}"
        taken = {other.lower() for other in columns.values()}
        number = 2
        while column.lower() in taken:
            column, number = f"axis_{axis}_{number}", number + 1
        columns[axis] = column
    return columns
