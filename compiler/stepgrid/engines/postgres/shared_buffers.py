"""How much of PostgreSQL's shared buffers is filled, by its extension pg_buffercache.

The extension is made in no database: its functions are made for a session, and go with it.
"""

from __future__ import annotations

from stepgrid.model.step_start import CACHE, CACHED
from stepgrid.plugins.server import Connection
from stepgrid.plugins.server_statistics import ServerStatistics

_SUMMARY_SINCE = 160000  # older releases tell it by buffer alone, which takes them long where there are many
_ASKED = (
    "SELECT current_setting('server_version_num')::int AS release, current_setting('is_superuser')::bool AS superuser, "
    "EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_buffercache') AS there, "
    "pg_size_bytes(current_setting('shared_buffers')) AS most, current_setting('block_size')::int AS block"
)
_FUNCTION = (
    "CREATE OR REPLACE FUNCTION pg_temp.buffers(OUT used int, OUT unused int, OUT dirty int, OUT pinned int, "
    "OUT usage float8) AS '$libdir/pg_buffercache', 'pg_buffercache_summary' LANGUAGE c"
)
_USED = "SELECT used FROM pg_temp.buffers()"


def filled(connection: Connection) -> ServerStatistics:
    """Nothing where it may not be asked, or where the build lacks the extension."""
    (row,) = connection.query(_ASKED)
    if not (row["superuser"] and row["there"]) or row["release"] < _SUMMARY_SINCE:
        return ServerStatistics()
    connection.query(_FUNCTION)
    (found,) = connection.query(_USED)
    return ServerStatistics(state={CACHED: float(found["used"] * row["block"]), CACHE: float(row["most"])})
