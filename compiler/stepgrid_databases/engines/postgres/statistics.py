"""Statistics that PostgreSQL tells beside a step: its views, sizes of tables, garbage; and when it is idle."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from math import ceil
from typing import Any

from stepgrid.model.figures import (
    CACHE_BYTES,
    CACHED_BYTES,
    DATA_BYTES,
    DEAD_ROWS,
    INDEX_BYTES,
    TABLES_TO_VACUUM,
    VACUUMS,
)
from stepgrid.plugins.engine import EngineEvent
from stepgrid.plugins.server import (
    Access,
    Connection,
    IdleReading,
    ObjectSize,
    ServerRow,
    ServerStatistics,
    StatisticsReader,
    StatisticsReaders,
    for_each,
    json_lines,
    split_gauges,
)
from stepgrid_databases.engines.postgres.connection import connect, counters, existing_views

GAUGES = (
    "*.numbackends", "*.n_live_tup", "*.n_dead_tup", "*.n_mod_since_analyze", "*.n_ins_since_vacuum", "*.op_bytes",
)  # fmt: skip
_SUMMED_VIEWS = ("pg_stat_user_tables", "pg_statio_user_tables", "pg_stat_user_indexes", "pg_statio_user_indexes")
_IO = "pg_stat_io"  # a row for each kind of IO
_STATEMENTS = "pg_stat_statements"
_MOST_STATEMENTS = 100  # that are kept, by their time


def looks(connection: Connection) -> StatisticsReaders:
    views = existing_views(connection, (*_SUMMED_VIEWS, _IO))
    statements = [StatisticsReader(_STATEMENTS, partial(_statements, connection))]
    return (
        StatisticsReader("tables", partial(tables, connection)),
        StatisticsReader("indexes", partial(indexes, connection)),
        *(statements if _counts_statements(connection) else []),
        *(StatisticsReader(name, partial(_sum_rows, connection, name)) for name in _SUMMED_VIEWS if name in views),
        *([StatisticsReader(_IO, partial(_io, connection))] if _IO in views else []),
        StatisticsReader("vacuums", partial(vacuums, connection)),
        StatisticsReader("buffers", partial(shared_buffers, connection)),
        StatisticsReader("views", lambda: split_gauges(counters(connection), GAUGES)),
    )


DEBTS: Mapping[str, Mapping[str, str]] = {"heap": {"dead rows": "number of dead rows"}}
_DEAD = "SELECT coalesce(sum(n_dead_tup), 0) AS dead FROM pg_stat_user_tables"


def states(connection: Connection) -> Sequence[IdleReading]:
    """Read the rows that vacuum has yet to remove: no number of them holds clients up by itself."""
    return [IdleReading("dead rows", float(row["dead"]), math.inf, "rows") for row in connection.query(_DEAD)]


_NUMBERS = (
    "SELECT column_name AS name, sum(value::numeric) AS value FROM {table} AS seen, "
    "jsonb_each_text(to_jsonb(seen)) AS pair (column_name, value) "
    "WHERE jsonb_typeof(to_jsonb(seen) -> column_name) = 'number' AND column_name NOT LIKE '%id' "
    "AND column_name !~ '^(min|max|mean|stddev)_' GROUP BY column_name"
)


def _sum_rows(connection: Connection, view: str) -> ServerStatistics:
    rows = connection.query(_NUMBERS.format(table=view))
    return split_gauges({f"{view}.{row['name']}": float(row["value"]) for row in rows}, GAUGES)


def _io(connection: Connection) -> ServerStatistics:
    """Name counters by the texts of their row, which say what it counts; which columns have numbers differs by row."""
    values: dict[str, float] = {}
    for row in connection.query(f"SELECT * FROM {_IO}"):
        kind = ".".join(str(value) for value in row.values() if isinstance(value, str))
        for name, value in row.items():
            if isinstance(value, int | float | Decimal):
                values[f"{_IO}.{kind}.{name}"] = float(value)
    return split_gauges(values, GAUGES)


_PRELOADED = "SELECT FROM pg_settings WHERE name = 'shared_preload_libraries' AND setting LIKE '%pg_stat_statements%'"
_CREATED = "SELECT FROM pg_extension WHERE extname = 'pg_stat_statements'"


def _counts_statements(connection: Connection) -> bool:
    """Check that the spec has the library loaded, and create the extension that shows its figures."""
    if not connection.query(_PRELOADED):
        return False
    if not connection.query(_CREATED):
        connection.query("CREATE EXTENSION pg_stat_statements")
    return True


def _statements(connection: Connection) -> ServerStatistics:
    def seconds(statement: ServerRow) -> float:
        return float(statement.get("total_exec_time", statement.get("total_time", 0.0)))

    rows = connection.query(f"SELECT to_jsonb(seen) AS seen FROM {_STATEMENTS} AS seen")
    statements: list[dict[str, Any]] = sorted((row["seen"] for row in rows), key=seconds, reverse=True)
    totals = _sum_rows(connection, _STATEMENTS).counters
    return ServerStatistics(dict(totals), text=json_lines(statements[:_MOST_STATEMENTS]))


_BUFFERS = (
    "SELECT current_setting('server_version_num')::int AS release, current_setting('is_superuser')::bool AS superuser, "
    "EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_buffercache') AS there, "
    "pg_size_bytes(current_setting('shared_buffers')) AS most, current_setting('block_size')::int AS block"
)
_SUMMARY_FUNCTION = (
    "CREATE OR REPLACE FUNCTION pg_temp.buffers(OUT used int, OUT unused int, OUT dirty int, OUT pinned int, "
    "OUT usage float8) AS '$libdir/pg_buffercache', 'pg_buffercache_summary' LANGUAGE c"
)
_SUMMARY_SINCE = 160000  # older releases list buffer by buffer, which takes them long where there are many


def shared_buffers(connection: Connection) -> ServerStatistics:
    """Read how much of the shared buffers is filled, where the build has pg_buffercache and the user may ask.

    The extension is created in no database: its function is made for a session, and goes with it.
    """
    (row,) = connection.query(_BUFFERS)
    if not (row["superuser"] and row["there"]) or row["release"] < _SUMMARY_SINCE:
        return ServerStatistics()
    connection.query(_SUMMARY_FUNCTION)
    (summary,) = connection.query("SELECT used FROM pg_temp.buffers()")
    return ServerStatistics(
        state={CACHED_BYTES: float(summary["used"] * row["block"]), CACHE_BYTES: float(row["most"])}
    )


# Waits of the sessions of clients, and of parallel workers, at the moment

_SESSION_WAITS = (
    "SELECT coalesce(wait_event_type || ':' || wait_event, '') AS event, count(*) AS sessions FROM pg_stat_activity "
    "WHERE datname = '{database}' AND state = 'active' GROUP BY 1"
)


def session_waits(connection: Connection, access: Access) -> Mapping[str, int]:
    rows = connection.query(_SESSION_WAITS.format(database=access.database.replace("'", "''")))
    return {str(row["event"]): int(row["sessions"]) for row in rows}


# Sizes of tables and indexes, and how much of that holds no live row.

_USER_SCHEMA = "NOT IN ('pg_catalog', 'information_schema')"
_TABLES = (
    "SELECT nspname AS schema, relname AS name, reltuples::bigint AS rows, pg_table_size(c.oid) AS data_bytes, "
    "pg_indexes_size(c.oid) AS index_bytes, pg_relation_size(c.oid) AS heap_bytes, "
    "pg_stat_get_live_tuples(c.oid) AS live_rows, pg_stat_get_dead_tuples(c.oid) AS dead_rows, "
    "current_setting('block_size')::int AS block_bytes, "
    "(SELECT option_value::int FROM pg_options_to_table(reloptions) WHERE option_name = 'fillfactor') AS fill_pct, "
    "(SELECT count(*) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns "
    "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace "
    f"WHERE relkind IN ('r', 'm') AND nspname {_USER_SCHEMA} ORDER BY 1, 2"
)
# Bytes of a row's values, of the tables that were analyzed
_WIDTHS = (
    "SELECT schemaname AS schema, tablename AS name, count(*) AS columns, "
    "sum((1 - null_frac) * avg_width)::float8 AS width FROM pg_stats "
    f"WHERE NOT inherited AND schemaname {_USER_SCHEMA} GROUP BY 1, 2"
)
_INDEXES = (
    "SELECT schemaname AS schema, relname AS table, indexrelname AS name, pg_relation_size(indexrelid) AS bytes "
    "FROM pg_stat_user_indexes ORDER BY 1, 2, 3"
)
_PAGE_HEADER, _LINE_POINTER, _ROW_HEADER, _ALIGNMENT = 24, 4, 24, 8  # bytes


def tables(connection: Connection) -> ServerStatistics:
    rows = connection.query(_TABLES)
    widths = {(row["schema"], row["name"]): row for row in connection.query(_WIDTHS)}
    objects, bloats = [], []
    for row in rows:
        bloats.append(bloat(row, widths.get((row["schema"], row["name"]), {})))
        objects.append(
            ObjectSize(
                str(row["schema"]),
                str(row["name"]),
                rows=float(row["live_rows"]),
                bytes=float(row["data_bytes"] + row["index_bytes"]),
                dead_rows=float(row[DEAD_ROWS]),
                bloat_bytes=bloats[-1],
            )
        )
    analyzed = [size for size in bloats if size is not None]
    garbage = {DEAD_ROWS: float(sum(row[DEAD_ROWS] for row in rows))} if rows else {}
    if rows and len(analyzed) == len(rows):
        garbage["bloat_bytes"] = sum(analyzed)
    (database,) = connection.query("SELECT pg_database_size(current_database()) AS pg_database_size")
    return ServerStatistics(
        gauges={name: float(value) for name, value in database.items()},
        sizes={name: float(sum(row[name] for row in rows)) for name in (DATA_BYTES, INDEX_BYTES)},
        text=json_lines(rows),
        garbage=garbage,
        objects=objects,
    )


def bloat(table: ServerRow, width: ServerRow) -> float | None:
    """Compute the bytes beyond the pages that a table's live rows need; unknown before the table is analyzed."""
    if not table["heap_bytes"]:
        return 0.0
    if width.get("columns") != table["columns"]:
        return None
    row = _LINE_POINTER + _ALIGNMENT * ceil((_ROW_HEADER + width["width"]) / _ALIGNMENT)
    room = (table["block_bytes"] - _PAGE_HEADER) * (table["fill_pct"] or 100) / 100
    pages = ceil(table["live_rows"] / max(1, room // row))
    return float(max(0, table["heap_bytes"] - pages * table["block_bytes"]))


def indexes(connection: Connection) -> ServerStatistics:
    rows = connection.query(_INDEXES)
    objects = [ObjectSize(row["schema"], row["table"], row["name"], bytes=float(row["bytes"])) for row in rows]
    return ServerStatistics(text=json_lines(rows), objects=objects)


# Events by the log, whose lines have the time of the build's default: that of the world.

_LOG = re.compile(r"(\S+ \S+) (?:GMT|UTC) \[\d+\] LOG:  (.*)")
_STARTING = re.compile(r"checkpoint starting: (.*)")
_COMPLETE = re.compile(r"checkpoint complete: .*\btotal=([\d.]+) s")
_AUTOMATIC = re.compile(r'automatic (?:aggressive )?(vacuum|analyze)\b.* of table "([^"]*)"')
_ELAPSED = re.compile(r"\belapsed: ([\d.]+) s")
_KINDS = {"vacuum": "autovacuum", "analyze": "autoanalyze"}


def log_events(lines: Iterable[str]) -> Iterator[EngineEvent]:
    """Yield checkpoints with what started them, and what autovacuum did; that is logged when it ends."""
    checkpoint: tuple[float, str] | None = None
    work: tuple[float, str, str] | None = None
    for line in lines:
        if entry := _LOG.match(line):
            end, text = datetime.fromisoformat(entry[1]).replace(tzinfo=UTC).timestamp(), entry[2]
            if starting := _STARTING.match(text):
                checkpoint = end, starting[1]
            elif complete := _COMPLETE.match(text):
                seconds = float(complete[1])
                yield EngineEvent(end - seconds, seconds, "checkpoint", checkpoint[1] if checkpoint else "")
                checkpoint = None
            automatic = _AUTOMATIC.match(text)
            work = (end, _KINDS[automatic[1]], automatic[2].partition(".")[2]) if automatic else None
        if work and (elapsed := _ELAPSED.search(line)):  # it stands in a later line of the same entry
            seconds = float(elapsed[1])
            yield EngineEvent(work[0] - seconds, seconds, *work[1:])
            work = None
    if checkpoint:
        yield EngineEvent(checkpoint[0], math.inf, "checkpoint", checkpoint[1])


# Idleness: no checkpoint, no vacuum, no log behind.

# A checkpointer that waits in its main loop has none to make; where it writes it waits for something else, or for
# nothing. Vacuums by anyone count, so do those that autovacuum is about to start.
_WORK = """
SELECT
  (SELECT count(*) FROM pg_stat_activity
    WHERE backend_type = 'checkpointer' AND wait_event IS DISTINCT FROM 'CheckpointerMain') AS checkpoints,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker') AS autovacuum,
  (SELECT count(*) FROM pg_stat_progress_vacuum) AS vacuums,
  pg_wal_lsn_diff(pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn()) AS unflushed,
  pg_wal_lsn_diff(pg_current_wal_insert_lsn(), (SELECT redo_lsn FROM pg_control_checkpoint())) AS since_checkpoint,
  pg_size_bytes(current_setting('max_wal_size')) AS most
"""

# autovacuum's own rules. A column or a setting that a version lacks is null here, and null is never due. Tables with
# settings of their own for it are left to it.
_DUE = """
WITH seen AS (
  SELECT to_jsonb(s) AS stat, greatest(c.reltuples, 0) AS live
  FROM pg_stat_all_tables AS s JOIN pg_class AS c ON c.oid = s.relid
  WHERE c.relkind IN ('r', 'm', 't') AND c.relpersistence <> 't' AND s.schemaname <> 'information_schema'
    AND NOT coalesce(array_to_string(c.reloptions, ','), '') LIKE '%autovacuum%'
)
SELECT count(*) AS due FROM seen
WHERE current_setting('autovacuum')::bool AND current_setting('track_counts')::bool AND (
  (stat ->> 'n_dead_tup')::float > current_setting('autovacuum_vacuum_threshold')::float
    + current_setting('autovacuum_vacuum_scale_factor')::float * live
  OR ((stat ->> 'n_ins_since_vacuum')::float > current_setting('autovacuum_vacuum_insert_threshold', true)::float
    + current_setting('autovacuum_vacuum_insert_scale_factor', true)::float * live
    AND current_setting('autovacuum_vacuum_insert_threshold', true)::float >= 0)
  OR ((stat ->> 'n_mod_since_analyze')::float > current_setting('autovacuum_analyze_threshold')::float
    + current_setting('autovacuum_analyze_scale_factor')::float * live
    AND stat ->> 'schemaname' NOT IN ('pg_catalog', 'pg_toast')))
"""

_RUNNING_VACUUMS = """
SELECT count(*) AS vacuums FROM pg_stat_activity AS seen LEFT JOIN pg_stat_progress_vacuum AS work USING (pid)
WHERE seen.backend_type = 'autovacuum worker' OR work.pid IS NOT NULL
"""

_TABLES_BY_SIZE = """
SELECT c.oid::regclass::text AS name FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY pg_relation_size(c.oid) DESC
"""
_PAGE = 8192  # of the log that the writer has in hand: an idle server may keep less than one
_INDEX_CLEANUP_SINCE = 120000


@contextmanager
def settle(connection: Connection, access: Access) -> Iterator[None]:
    """Make a checkpoint; a server that ran before makes its own."""
    if not access.running:
        connection.query("CHECKPOINT")
    yield


def analyze(connection: Connection, access: Access) -> None:
    """Vacuum the largest tables first, so that the last to end is not also the longest."""
    (row,) = connection.query("SELECT current_setting('server_version_num')::int AS release")
    options = "ANALYZE, INDEX_CLEANUP ON" if row["release"] >= _INDEX_CLEANUP_SINCE else "ANALYZE"
    names = [str(row["name"]) for row in connection.query(_TABLES_BY_SIZE)]
    for_each(names, partial(connect, access), f"VACUUM ({options}) {{}}")


def vacuums(connection: Connection) -> ServerStatistics:
    (row,), (due,) = connection.query(_RUNNING_VACUUMS), connection.query(_DUE)
    return ServerStatistics(state={VACUUMS: float(row["vacuums"]), TABLES_TO_VACUUM: float(due["due"])})


def busy(connection: Connection, access: Access) -> Sequence[IdleReading]:
    (row,), (due,) = connection.query(_WORK), connection.query(_DUE)
    log = float(row["since_checkpoint"])  # nothing to wait for below what starts the next checkpoint
    return (
        IdleReading("checkpoints", float(row["checkpoints"]), 0),
        IdleReading("autovacuum workers", float(row["autovacuum"]), 0),
        IdleReading("vacuums", float(row["vacuums"]), 0),
        IdleReading("tables due for autovacuum", float(due["due"]), 0),
        IdleReading("log not flushed", float(row["unflushed"]), _PAGE, "B"),
        IdleReading("log since the checkpoint", log, float(row["most"]), "B"),
    )
