"""How large PostgreSQL's tables and indexes are, and how much of that holds no live row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from stepgrid.model.step_start import DATA, DEAD_ROWS, INDEX
from stepgrid.plugins.server import Connection
from stepgrid.plugins.server_statistics import ObjectSize, ServerStatistics, lines

_USERS = "NOT IN ('pg_catalog', 'information_schema')"
_TABLES = (
    "SELECT nspname AS schema, relname AS name, reltuples::bigint AS rows, pg_table_size(c.oid) AS data_bytes, "
    "pg_indexes_size(c.oid) AS index_bytes, pg_relation_size(c.oid) AS heap_bytes, "
    "pg_stat_get_live_tuples(c.oid) AS live_rows, pg_stat_get_dead_tuples(c.oid) AS dead_rows, "
    "current_setting('block_size')::int AS block_bytes, "
    "(SELECT option_value::int FROM pg_options_to_table(reloptions) WHERE option_name = 'fillfactor') AS fill_pct, "
    "(SELECT count(*) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns "
    "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace "
    f"WHERE relkind IN ('r', 'm') AND nspname {_USERS} ORDER BY 1, 2"
)
# What a row's values take, of the tables that were analyzed
_WIDTHS = (
    "SELECT schemaname AS schema, tablename AS name, count(*) AS columns, "
    "sum((1 - null_frac) * avg_width)::float8 AS width FROM pg_stats "
    f"WHERE NOT inherited AND schemaname {_USERS} GROUP BY 1, 2"
)
_INDEXES = (
    "SELECT schemaname AS schema, relname AS table, indexrelname AS name, pg_relation_size(indexrelid) AS bytes "
    "FROM pg_stat_user_indexes ORDER BY 1, 2, 3"
)
_DATABASE = "SELECT pg_database_size(current_database()) AS pg_database_size"
BLOAT = "bloat_bytes"
_PAGE_HEADER, _LINE_POINTER, _ROW_HEADER, _ALIGNED = 24, 4, 24, 8  # bytes
Row = Mapping[str, Any]


def tables(connection: Connection) -> ServerStatistics:
    rows = connection.query(_TABLES)
    widths = {(row["schema"], row["name"]): row for row in connection.query(_WIDTHS)}
    bloats = [bloat(row, widths.get((row["schema"], row["name"]), {})) for row in rows]
    (whole,) = connection.query(_DATABASE)
    return ServerStatistics(
        gauges={name: float(value) for name, value in whole.items()},
        sizes={name: float(sum(row[name] for row in rows)) for name in (DATA, INDEX)},
        text=lines(rows),
        garbage=_garbage(rows, bloats),
        objects=[_table(*each) for each in zip(rows, bloats, strict=True)],
    )


def _garbage(rows: Sequence[Row], bloats: Sequence[float | None]) -> dict[str, float]:
    known = [each for each in bloats if each is not None]
    dead = {DEAD_ROWS: float(sum(row[DEAD_ROWS] for row in rows))} if rows else {}
    return {**dead, **({BLOAT: sum(known)} if rows and len(known) == len(rows) else {})}


def _table(row: Row, bloat: float | None) -> ObjectSize:
    size = float(row["data_bytes"] + row["index_bytes"])
    live, dead = float(row["live_rows"]), float(row[DEAD_ROWS])
    return ObjectSize(str(row["schema"]), str(row["name"]), rows=live, bytes=size, dead_rows=dead, bloat_bytes=bloat)


def bloat(table: Row, width: Row) -> float | None:
    """What the table is larger than its live rows need, page by page; None: it was not analyzed as it is."""
    if not table["heap_bytes"]:
        return 0.0
    if width.get("columns") != table["columns"]:
        return None
    row = _LINE_POINTER + _ALIGNED * ceil((_ROW_HEADER + width["width"]) / _ALIGNED)
    room = (table["block_bytes"] - _PAGE_HEADER) * (table["fill_pct"] or 100) / 100
    pages = ceil(table["live_rows"] / max(1, room // row))
    return float(max(0, table["heap_bytes"] - pages * table["block_bytes"]))


def indexes(connection: Connection) -> ServerStatistics:
    rows = connection.query(_INDEXES)
    found = [ObjectSize(row["schema"], row["table"], row["name"], bytes=float(row["bytes"])) for row in rows]
    return ServerStatistics(text=lines(rows), objects=found)
