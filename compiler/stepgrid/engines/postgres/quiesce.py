"""When PostgreSQL has nothing left to do: no checkpoint, no vacuum, no log behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from stepgrid.plugins.server import Access, Connection, IdleReading, for_each

# A checkpointer that waits in its main loop has none to make; where it writes it waits for something else, or for
# nothing. Vacuums by anyone count, so do those that autovacuum is about to start.
_BUSY = """
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

_VACUUMS = """
SELECT count(*) AS vacuums FROM pg_stat_activity AS seen LEFT JOIN pg_stat_progress_vacuum AS work USING (pid)
WHERE seen.backend_type = 'autovacuum worker' OR work.pid IS NOT NULL
"""

_TABLES = """
SELECT c.oid::regclass::text AS name FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY pg_relation_size(c.oid) DESC
"""
PAGE = 8192  # of the log that the writer has in hand: an idle server may keep less than one
INDEX_CLEANUP_SINCE = 120000


@contextmanager
def settle(connection: Connection, access: Access) -> Iterator[None]:
    """A checkpoint writes what is dirty; there is nothing to put back. A server that ran before makes its own."""
    if not access.running:
        connection.query("CHECKPOINT")
    yield


def analyze(connection: Connection, access: Access) -> None:
    """The largest tables first, so that the last to end is not also the longest."""
    from stepgrid.engines.postgres.connection import connect  # psycopg is slow to import

    (row,) = connection.query("SELECT current_setting('server_version_num')::int AS release")
    options = "ANALYZE, INDEX_CLEANUP ON" if row["release"] >= INDEX_CLEANUP_SINCE else "ANALYZE"
    tables = [str(row["name"]) for row in connection.query(_TABLES)]
    for_each(tables, partial(connect, access), f"VACUUM ({options}) {{}}")


def vacuums(connection: Connection) -> tuple[float, float]:
    """(at work, tables due for autovacuum)"""
    (row,), (due,) = connection.query(_VACUUMS), connection.query(_DUE)
    return float(row["vacuums"]), float(due["due"])


def busy(connection: Connection, access: Access) -> Sequence[IdleReading]:
    (row,), (due,) = connection.query(_BUSY), connection.query(_DUE)
    return seen({**row, **due})


def seen(row: Mapping[str, Any]) -> Sequence[IdleReading]:
    """What is written to the log since the last checkpoint is nothing to wait for below what starts the next one."""
    return (
        IdleReading("checkpoints", float(row["checkpoints"]), 0),
        IdleReading("autovacuum workers", float(row["autovacuum"]), 0),
        IdleReading("vacuums", float(row["vacuums"]), 0),
        IdleReading("tables due for autovacuum", float(row["due"]), 0),
        IdleReading("log not flushed", float(row["unflushed"]), PAGE, "B"),
        IdleReading("log since the checkpoint", float(row["since_checkpoint"]), float(row["most"]), "B"),
    )
