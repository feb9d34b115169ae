"""How large mysqld's and mariadbd's tables and their indexes are, as the server tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepgrid.engines.mysqld import innodb
from stepgrid.engines.mysqld.connection import OTHERS, OWN_TABLES
from stepgrid.model.step_start import DATA, INDEX
from stepgrid.plugins.server import Connection
from stepgrid.plugins.server_statistics import ObjectSize, ServerStatistics, lines

VIEWS = "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'information_schema'"
_FRESH = "information_schema_stats_expiry"  # seconds for which MySQL believes what it knew of sizes
FROM = (
    "FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN "
    f"('mysql', 'sys', 'information_schema', 'performance_schema') AND {OWN_TABLES}"
)
_TABLES = (
    "SELECT table_schema AS `schema`, table_name AS name, engine AS engine, table_rows AS `rows`, "
    "data_length AS data_bytes, index_length AS index_bytes, data_free AS free_bytes "
    f"{FROM} ORDER BY table_schema, table_name"
)
# Their files, by the name that the release has for the table; of a server that ran before also those of others
_FILES = (
    "SELECT sum(file_size) AS bytes FROM information_schema.{table} "
    "WHERE name LIKE '%/%' AND name NOT LIKE 'mysql/%' AND name NOT LIKE 'sys/%' AND "
    f"({OTHERS} IS NULL OR name LIKE concat(DATABASE(), '/%'))"
)
_TABLESPACES = ("innodb_tablespaces", "innodb_sys_tablespaces")
_SPARE = 8 * 2**20  # bytes of files that may be empty, whatever the statistics say


def tables(connection: Connection) -> ServerStatistics:
    rows, known = _told(connection)
    if not known:
        return ServerStatistics(text=lines(rows))
    sizes = {name: _sum(rows, name) for name in (DATA, INDEX)}
    free = [row["free_bytes"] for row in rows if _is_innodb(row)]
    bloat = {"bloat_bytes": float(sum(each or 0 for each in free))} if free else {}
    return ServerStatistics(sizes=sizes, text=lines(rows), garbage=bloat, objects=[*map(_object, rows)])


def _told(connection: Connection) -> tuple[list[Mapping[str, Any]], bool]:
    """Of each table, and whether it is of now."""
    if connection.query(f"SHOW VARIABLES LIKE '{_FRESH}'"):
        connection.query(f"SET SESSION {_FRESH} = 0")
    rows = connection.query(_TABLES)
    told = sum(_sum(rows, name) for name in (DATA, INDEX, "free_bytes"))
    return rows, not _outdated(told, _in_files(connection))


def _object(row: Mapping[str, Any]) -> ObjectSize:
    size = float((row["data_bytes"] or 0) + (row["index_bytes"] or 0))
    bloat = float(row["free_bytes"] or 0) if _is_innodb(row) else None
    rows = None if row["rows"] is None else float(row["rows"])
    return ObjectSize(str(row["schema"]), str(row["name"]), rows=rows, bytes=size, bloat_bytes=bloat)


def _is_innodb(row: Mapping[str, Any]) -> bool:
    return str(row["engine"]).upper() == "INNODB"


def innodb_indexes(connection: Connection) -> ServerStatistics:
    rows, known = _told(connection)
    found = innodb.indexes(connection, [row for row in rows if _is_innodb(row)]) if known else []
    return ServerStatistics(objects=found)


def _sum(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(sum(row.get(name) or 0 for row in rows))


def _in_files(connection: Connection) -> float:
    """0 where it cannot be told: of another storage engine, or to a user who may not know."""
    named = ", ".join(f"'{name}'" for name in _TABLESPACES)
    there = connection.query(f"{VIEWS} AND lower(table_name) IN ({named})")
    try:
        return sum(_sum(connection.query(_FILES.format(table=row["name"])), "bytes") for row in there)
    except Exception:  # of each client its own
        return 0.0


def _outdated(told: float, files: float) -> bool:
    """InnoDB has what it says of a table from its statistics, which are made seconds after many changes."""
    return files - told > _SPARE and told < files / 2
