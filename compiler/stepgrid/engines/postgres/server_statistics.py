"""What PostgreSQL says of itself beside a step: its statistics views, as far as a release has them, and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from stepgrid.engines.postgres import quiesce, shared_buffers, table_sizes
from stepgrid.engines.postgres.running_server import counters
from stepgrid.model.step_start import TO_VACUUM, VACUUMS
from stepgrid.plugins.server import Connection
from stepgrid.plugins.server_statistics import Looks, ServerStatistics, StatisticsReader, apart, lines

GAUGES = (
    "*.numbackends", "*.n_live_tup", "*.n_dead_tup", "*.n_mod_since_analyze", "*.n_ins_since_vacuum", "*.op_bytes",
)  # fmt: skip
_SUMS = ("pg_stat_user_tables", "pg_statio_user_tables", "pg_stat_user_indexes", "pg_statio_user_indexes")
_IO = "pg_stat_io"  # a row for each kind of IO
_STATEMENTS = "pg_stat_statements"
_MOST = 100  # statements that are kept, by their time
_SUM = (
    "SELECT column_name AS name, sum(value::numeric) AS value FROM {table} AS seen, "
    "jsonb_each_text(to_jsonb(seen)) AS pair (column_name, value) "
    "WHERE jsonb_typeof(to_jsonb(seen) -> column_name) = 'number' AND column_name NOT LIKE '%id' "
    "AND column_name !~ '^(min|max|mean|stddev)_' GROUP BY column_name"
)
_THERE = "SELECT relname AS name FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relname IN ({})"
_LOADED = "SELECT FROM pg_settings WHERE name = 'shared_preload_libraries' AND setting LIKE '%pg_stat_statements%'"
_MADE = "SELECT FROM pg_extension WHERE extname = 'pg_stat_statements'"


def looks(connection: Connection) -> Looks:
    named = ", ".join(f"'{name}'" for name in (*_SUMS, _IO))
    there = {str(row["name"]) for row in connection.query(_THERE.format(named))}
    return (
        StatisticsReader("tables", partial(table_sizes.tables, connection)),
        StatisticsReader("indexes", partial(table_sizes.indexes, connection)),
        *([StatisticsReader(_STATEMENTS, partial(_statements, connection))] if _counts_statements(connection) else []),
        *(StatisticsReader(name, partial(_summed, connection, name)) for name in _SUMS if name in there),
        *([StatisticsReader(_IO, partial(_by_row, connection, _IO))] if _IO in there else []),
        StatisticsReader("vacuums", partial(_vacuums, connection)),
        StatisticsReader("buffers", partial(shared_buffers.filled, connection)),
        StatisticsReader("views", lambda: apart(counters(connection), GAUGES)),
    )


def _vacuums(connection: Connection) -> ServerStatistics:
    at_work, due = quiesce.vacuums(connection)
    return ServerStatistics(state={VACUUMS: at_work, TO_VACUUM: due})


def _counts_statements(connection: Connection) -> bool:
    """Where the spec has it loaded: what shows it is made on the way."""
    if not connection.query(_LOADED):
        return False
    if not connection.query(_MADE):
        connection.query("CREATE EXTENSION pg_stat_statements")
    return True


def _statements(connection: Connection) -> ServerStatistics:
    rows = connection.query(f"SELECT to_jsonb(seen) AS seen FROM {_STATEMENTS} AS seen")
    said: list[dict[str, Any]] = sorted((row["seen"] for row in rows), key=_time, reverse=True)
    return ServerStatistics(dict(_summed(connection, _STATEMENTS).counters), text=lines(said[:_MOST]))


def _time(statement: Mapping[str, Any]) -> float:
    return float(statement.get("total_exec_time", statement.get("total_time", 0.0)))


def _summed(connection: Connection, view: str) -> ServerStatistics:
    """Over its rows, the columns that are numbers."""
    rows = connection.query(_SUM.format(table=view))
    return apart({f"{view}.{row['name']}": float(row["value"]) for row in rows}, GAUGES)


def _by_row(connection: Connection, view: str) -> ServerStatistics:
    """Its texts say what a row counts, its columns what the numbers are: which of them there are differs by row."""
    found: dict[str, float] = {}
    for row in connection.query(f"SELECT * FROM {view}"):
        kind = ".".join(str(value) for value in row.values() if isinstance(value, str))
        numbers = {name: value for name, value in row.items() if isinstance(value, int | float | Decimal)}
        found |= {f"{view}.{kind}.{name}": float(value) for name, value in numbers.items()}
    return apart(found, GAUGES)
