"""Statistics of MyRocks: compactions and levels of its LSM trees, sizes and tombstones of indexes, idleness.

Tombstones are those in files: what memtables hold is not told by kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from stepgrid.model.figures import CACHE_BYTES, CACHED_BYTES
from stepgrid.plugins.server import Connection, IdleReading, ObjectSize, ServerRow, ServerStatistics, json_lines
from stepgrid_databases.engines.mysqld.connection import OWN_TABLES, named_variables

LEVELS, FILES = "rocksdb_compaction_stats", "rocksdb_index_file_map"
_GIB = 2.0**30
_SUM = "Sum"

# kind of a row -> column of the table `levels`, factor
_COLUMNS: Mapping[str, tuple[str, float]] = {
    "NumFiles": ("files", 1.0),
    "CompactedFiles": ("compacting_files", 1.0),
    "SizeBytes": ("bytes", 1.0),
    "Score": ("score", 1.0),
    # and what was done so far
    "ReadGB": ("read_bytes", _GIB),
    "RnGB": ("read_own_bytes", _GIB),
    "Rnp1GB": ("read_next_bytes", _GIB),
    "WriteGB": ("write_bytes", _GIB),
    "WnewGB": ("write_new_bytes", _GIB),
    "MovedGB": ("moved_bytes", _GIB),
    "CompSec": ("seconds", 1.0),
    "CompMergeCPU": ("cpu_seconds", 1.0),
    "CompCount": ("compactions", 1.0),
    "KeyIn": ("keys_in", 1.0),
    "KeyDrop": ("keys_dropped", 1.0),
    "RblobGB": ("blob_read_bytes", _GIB),
    "WblobGB": ("blob_write_bytes", _GIB),
}
# metric -> a column of the rows `Sum`, of all column families together
_WORK = {
    "compaction_seconds": "seconds",
    "compaction_cpu_seconds": "cpu_seconds",
    "compactions": "compactions",
    "compaction_keys_in": "keys_in",
    "compaction_keys_dropped": "keys_dropped",
}
# metric -> level and column
_SIZES = {
    "lsm_bytes": (_SUM, "bytes"),
    "lsm_files": (_SUM, "files"),
    "l0_bytes": ("L0", "bytes"),
    "l0_files": ("L0", "files"),
}
_LEVELS = (
    f"SELECT cf_name AS family, level AS level, type AS kind, value AS value FROM information_schema.{LEVELS} "
    "ORDER BY cf_name, level"
)


def compactions(connection: Connection) -> ServerStatistics:
    rows = connection.query(_LEVELS)
    levels: dict[tuple[str, str], dict[str, float | str]] = {}
    gauges = {}
    for row in rows:
        family, level, kind, value = str(row["family"]), str(row["level"]), str(row["kind"]), float(row["value"])
        columns = levels.setdefault((family, level), {"family": family, "level": level})
        if kind in _COLUMNS:
            name, factor = _COLUMNS[kind]
            columns[name] = value * factor
        gauges[f"{LEVELS}.{family}.{level}.{kind}"] = value

    def total(level: str, column: str) -> list[float]:
        """Sum a column over all column families, unless one of them lacks it."""
        values = [columns.get(column) for (_, name), columns in levels.items() if name == level]
        numbers = [float(value) for value in values if value is not None]
        return [sum(numbers)] if values and len(numbers) == len(values) else []

    work = {metric: value for metric, column in _WORK.items() for value in total(_SUM, column)}
    sizes = {metric: value for metric, (level, column) in _SIZES.items() for value in total(level, column)}
    return ServerStatistics(gauges=gauges, sizes=sizes, text=json_lines(rows), levels=[*levels.values()], work=work)


# metric -> status variables, to the byte: of their sum
_VOLUMES = {
    "ingest_bytes": ("bytes_written",),
    "wal_bytes": ("wal_bytes",),
    "flush_bytes": ("flush_write_bytes",),
    "compaction_read_bytes": ("compact_read_bytes",),
    "compaction_write_bytes": ("flush_write_bytes", "compact_write_bytes"),
}


def volumes(status: Mapping[str, float]) -> dict[str, float]:
    """Sum status variables by metric. Facebook's server and MariaDB differ in the first letter of their names."""
    values = {name.lower().removeprefix("rocksdb_"): value for name, value in status.items()}
    return {
        metric: sum(values[name] for name in names) for metric, names in _VOLUMES.items() if values.keys() >= {*names}
    }


def memtables(gauges: Mapping[str, float]) -> dict[str, float]:
    sizes = [value for name, value in gauges.items() if name.endswith(".CUR_SIZE_ALL_MEM_TABLES")]
    return {"memtable_bytes": sum(sizes)} if sizes else {}


def block_cache(connection: Connection, gauges: Mapping[str, float]) -> dict[str, float]:
    """Read the bytes that the cache of all column families holds, and may hold."""
    usage = gauges.get("rocksdb_dbstats.DB_BLOCK_CACHE_USAGE")
    if usage is None:
        return {}
    rows = connection.query("SHOW GLOBAL VARIABLES LIKE 'rocksdb_block_cache_size'")
    return {CACHED_BYTES: usage, CACHE_BYTES: float(rows[0]["Value"])} if rows else {}


class _Index(NamedTuple):
    schema: str
    table: str
    name: str
    family: str


class _Files(NamedTuple):
    """Contents of files, of an index."""

    rows: float = 0.0
    bytes: float = 0.0  # before compression
    tombstones: float = 0.0


_INDEXES = (
    "SELECT table_schema AS `schema`, table_name AS `table`, index_name AS name, cf AS family, "
    "column_family AS family_id, index_number AS number, index_type AS type "
    f"FROM information_schema.rocksdb_ddl WHERE {OWN_TABLES}"
)
_FILES = (
    "SELECT column_family AS family_id, index_number AS number, sst_name AS file, num_rows AS `rows`, "
    f"data_size AS bytes, entry_deletes + entry_singledeletes AS tombstones FROM information_schema.{FILES}"
)
_TABLES = (
    "SELECT table_schema AS `schema`, table_name AS name, data_length AS data_bytes, index_length AS index_bytes "
    f"FROM information_schema.tables WHERE engine = 'ROCKSDB' AND {OWN_TABLES}"
)
_PRIMARY_TYPES = (1, 3)  # the primary key, and the one of a table that has none: rows are in it


def indexes(connection: Connection, views: Container[str]) -> ServerStatistics:
    """Make a row for each index; partitions of a table are one. `views`: those that this release has."""
    if FILES not in views:
        raise LookupError(f"the server has no information_schema.{FILES}: how many tombstones there are is not known")
    contents: dict[tuple[int, int], list[_Files]] = defaultdict(list)  # by column family and number of the index
    for row in connection.query(_FILES):
        file = _Files(float(row["rows"]), float(row["bytes"]), float(row["tombstones"]))
        contents[int(row["family_id"]), int(row["number"])].append(file)
    files: dict[_Index, list[_Files]] = defaultdict(list)
    primary = set()
    for row in connection.query(_INDEXES):
        index = _Index(*(str(row[column]) for column in ("schema", "table", "name", "family")))
        files[index] += contents.get((int(row["family_id"]), int(row["number"])), [])
        if row["type"] in _PRIMARY_TYPES:
            primary.add(index)
    totals = {index: _Files(*map(sum, zip(_Files(), *parts, strict=True))) for index, parts in files.items()}
    sizes = _index_sizes(totals, primary, connection.query(_TABLES))
    objects = [
        ObjectSize(*index, rows=total.rows, bytes=sizes.get(index), tombstones=total.tombstones)
        for index, total in sorted(totals.items())
    ]
    garbage = {"tombstones": sum(total.tombstones for total in totals.values())} if totals else {}
    return ServerStatistics(objects=objects, garbage=garbage)


def _index_sizes(
    totals: Mapping[_Index, _Files], primary: Container[_Index], tables: Iterable[ServerRow]
) -> dict[_Index, float]:
    """Give the table's data to its primary key, and share what the server says of the others by their keys."""
    tables_by_name = {(str(row["schema"]), str(row["name"])): row for row in tables}
    keys: dict[tuple[str, str], float] = defaultdict(float)
    for index, files in totals.items():
        keys[index[:2]] += 0.0 if index in primary else files.bytes
    sizes = {}
    for index, files in totals.items():
        if (row := tables_by_name.get(index[:2])) is not None:
            share = files.bytes / keys[index[:2]] if keys[index[:2]] else 0.0
            sizes[index] = float(row["data_bytes"]) if index in primary else float(row["index_bytes"]) * share
    return sizes


# Idleness: memtables are flushed, compactions are done.

_COMPACT = ("rocksdb_compact_lzero_now", "rocksdb_force_flush_memtable_and_lzero_now")  # Facebook MySQL, MariaDB
_FAMILIES = (
    "SELECT stat_type AS name, sum(value) AS value FROM information_schema.rocksdb_cfstats "
    "WHERE stat_type IN ('CUR_SIZE_ALL_MEM_TABLES', 'NUM_IMMUTABLE_MEM_TABLE', 'COMPACTION_PENDING') GROUP BY stat_type"
)
_BUFFERS = (
    "SELECT sum(a.value * b.value) AS most FROM information_schema.rocksdb_cf_options AS a "
    "JOIN information_schema.rocksdb_cf_options AS b ON a.cf_name = b.cf_name "
    "WHERE a.option_type = 'WRITE_BUFFER_SIZE' AND b.option_type = 'MAX_WRITE_BUFFER_NUMBER'"
)


def flush(connection: Connection) -> None:
    """Flush memtables, then compact level 0, which has their files."""
    names = ("rocksdb_force_flush_memtable_now", *_COMPACT)
    for name in list(named_variables(connection, names))[:2]:
        connection.query(f"SET GLOBAL {name} = 1")


def idle_readings(connection: Connection) -> Sequence[IdleReading]:
    """Wait for memtables only above what they may hold, since they were flushed."""
    families = {str(row["name"]): float(row["value"]) for row in connection.query(_FAMILIES)}
    (buffers,) = connection.query(_BUFFERS)
    status = connection.query("SHOW ENGINE ROCKSDB STATUS")
    threads = [str(row["Status"]) for row in status if row["Type"] == "BG_THREADS"]
    return (
        IdleReading("memtables", families["CUR_SIZE_ALL_MEM_TABLES"], float(buffers["most"]), "B"),
        IdleReading("memtables to flush", families.get("NUM_IMMUTABLE_MEM_TABLE", 0.0), 0),
        IdleReading("flushes", float(sum("operation_type: Flush" in thread for thread in threads)), 0),
        IdleReading("pending compactions", families.get("COMPACTION_PENDING", 0.0), 0, "column families"),
        IdleReading("compactions", float(sum("operation_type: Compaction" in thread for thread in threads)), 0),
    )
