"""What MyRocks says of its LSM trees: work and levels of each column family, and what its files hold of each index.

Tombstones are those in files: what memtables hold is not told by kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from stepgrid.engines.mysqld.connection import OWN_TABLES
from stepgrid.model.step_start import CACHE, CACHED
from stepgrid.plugins.server import Connection
from stepgrid.plugins.server_statistics import ObjectSize, ServerStatistics, lines

LEVELS, FILES = "rocksdb_compaction_stats", "rocksdb_index_file_map"
GB = 2.0**30
SUM = "Sum"
Row = Mapping[str, Any]
Name = tuple[str, str, str, str]  # of an index: schema, table, index, column family

# of a level, as it is: what is called so in the table `levels`
STATES = {"NumFiles": "files", "CompactedFiles": "compacting_files", "SizeBytes": "bytes", "Score": "score"}
# and what it has done so far, with what one of it is
DONE: Mapping[str, tuple[str, float]] = {
    "ReadGB": ("read_bytes", GB),
    "RnGB": ("read_own_bytes", GB),
    "Rnp1GB": ("read_next_bytes", GB),
    "WriteGB": ("write_bytes", GB),
    "WnewGB": ("write_new_bytes", GB),
    "MovedGB": ("moved_bytes", GB),
    "CompSec": ("seconds", 1.0),
    "CompMergeCPU": ("cpu_seconds", 1.0),
    "CompCount": ("compactions", 1.0),
    "KeyIn": ("keys_in", 1.0),
    "KeyDrop": ("keys_dropped", 1.0),
    "RblobGB": ("blob_read_bytes", GB),
    "WblobGB": ("blob_write_bytes", GB),
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
_TREE = {
    "lsm_bytes": (SUM, "bytes"),
    "lsm_files": (SUM, "files"),
    "l0_bytes": ("L0", "bytes"),
    "l0_files": ("L0", "files"),
}
_USAGE = "rocksdb_dbstats.DB_BLOCK_CACHE_USAGE"
_CACHE_SIZE = "SHOW GLOBAL VARIABLES LIKE 'rocksdb_block_cache_size'"
_MEMTABLES = "CUR_SIZE_ALL_MEM_TABLES"
# metric -> status variables, to the byte: of their sum
_VOLUMES = {
    "ingest_bytes": ("bytes_written",),
    "wal_bytes": ("wal_bytes",),
    "flush_bytes": ("flush_write_bytes",),
    "compaction_read_bytes": ("compact_read_bytes",),
    "compaction_write_bytes": ("flush_write_bytes", "compact_write_bytes"),
}
_DDL = (
    "SELECT table_schema AS `schema`, table_name AS `table`, index_name AS name, cf AS family, "
    "column_family AS family_id, index_number AS number, index_type AS type "
    f"FROM information_schema.rocksdb_ddl WHERE {OWN_TABLES}"
)
_ENTRIES = (
    "SELECT column_family AS family_id, index_number AS number, sst_name AS file, num_rows AS `rows`, "
    f"data_size AS bytes, entry_deletes + entry_singledeletes AS tombstones FROM information_schema.{FILES}"
)
_TABLES = (
    "SELECT table_schema AS `schema`, table_name AS name, data_length AS data_bytes, index_length AS index_bytes "
    f"FROM information_schema.tables WHERE engine = 'ROCKSDB' AND {OWN_TABLES}"
)
_WITH_ROWS = (1, 3)  # index types: the primary key, and the one of a table that has none
_LEVELS = (
    f"SELECT cf_name AS family, level AS level, type AS kind, value AS value FROM information_schema.{LEVELS} "
    "ORDER BY cf_name, level"
)


def volumes(status: Mapping[str, float]) -> dict[str, float]:
    """By metric. Facebook's server and MariaDB differ in the first letter."""
    known = {name.lower().removeprefix("rocksdb_"): value for name, value in status.items()}
    there = {metric: names for metric, names in _VOLUMES.items() if known.keys() >= {*names}}
    return {metric: sum(known[name] for name in names) for metric, names in there.items()}


def compactions(connection: Connection) -> ServerStatistics:
    rows = connection.query(_LEVELS)
    gauges = {f"{LEVELS}.{row['family']}.{row['level']}.{row['kind']}": float(row["value"]) for row in rows}
    found = levels(rows)
    return ServerStatistics(gauges=gauges, sizes=tree(found), text=lines(rows), levels=found, work=work(found))


def levels(rows: Iterable[Row]) -> list[dict[str, float | str]]:
    """A row for each column family and level, with `Sum` for all of its levels."""
    found: dict[tuple[str, str], dict[str, float | str]] = {}
    for row in rows:
        family, level, kind = str(row["family"]), str(row["level"]), str(row["kind"])
        each = found.setdefault((family, level), {"family": family, "level": level})
        if kind in STATES:
            each[STATES[kind]] = float(row["value"])
        elif kind in DONE:
            name, factor = DONE[kind]
            each[name] = float(row["value"]) * factor
    return list(found.values())


def work(seen: Iterable[Mapping[str, float | str]]) -> dict[str, float]:
    """By metric, of all column families."""
    sums = [row for row in seen if row["level"] == SUM]
    return {
        metric: sum(float(row[column]) for row in sums)
        for metric, column in _WORK.items()
        if sums and all(column in row for row in sums)
    }


def tree(seen: Iterable[Mapping[str, float | str]]) -> dict[str, float]:
    """Likewise, as it is."""
    found = {metric: [row for row in seen if row["level"] == level] for metric, (level, _) in _TREE.items()}
    return {metric: sum(float(row[_TREE[metric][1]]) for row in rows) for metric, rows in found.items() if rows}


def memtables(gauges: Mapping[str, float]) -> dict[str, float]:
    found = [value for name, value in gauges.items() if name.endswith(f".{_MEMTABLES}")]
    return {"memtable_bytes": sum(found)} if found else {}


def block_cache(connection: Connection, gauges: Mapping[str, float]) -> dict[str, float]:
    """Of all column families: what it holds, and what it may hold."""
    held = gauges.get(_USAGE)
    rows = [] if held is None else connection.query(_CACHE_SIZE)
    return {} if held is None or not rows else {CACHED: held, CACHE: float(rows[0]["Value"])}


class IndexFiles(NamedTuple):
    """What the files hold of an index."""

    rows: float = 0.0
    bytes: float = 0.0  # before compression
    tombstones: float = 0.0


def indexes(connection: Connection, there: Container[str]) -> ServerStatistics:
    """A row for each index; partitions of a table are one. `there`: the views that this release has."""
    if FILES not in there:
        raise LookupError(f"the server has no information_schema.{FILES}: how many tombstones there are is not known")
    held, listed = _held(connection.query(_ENTRIES)), connection.query(_DDL)
    parts: dict[Name, list[IndexFiles]] = defaultdict(list)
    for row in listed:
        parts[_name(row)].append(held.get((int(row["family_id"]), int(row["number"])), IndexFiles()))
    found = {name: IndexFiles(*map(sum, zip(*each, strict=True))) for name, each in parts.items()}
    sizes = _sizes(found, {_name(row) for row in listed if row["type"] in _WITH_ROWS}, connection.query(_TABLES))
    objects = [
        ObjectSize(*name, rows=files.rows, bytes=sizes.get(name), tombstones=files.tombstones)
        for name, files in sorted(found.items())
    ]
    total = sum(each.tombstones for each in found.values())
    return ServerStatistics(objects=objects, garbage={"tombstones": total} if found else {})


def _name(row: Row) -> Name:
    return str(row["schema"]), str(row["table"]), str(row["name"]), str(row["family"])


def _held(entries: Iterable[Row]) -> dict[tuple[int, int], IndexFiles]:
    """By column family and number of the index."""
    found: dict[tuple[int, int], list[IndexFiles]] = defaultdict(list)
    for row in entries:
        part = IndexFiles(float(row["rows"]), float(row["bytes"]), float(row["tombstones"]))
        found[int(row["family_id"]), int(row["number"])].append(part)
    return {index: IndexFiles(*map(sum, zip(*parts, strict=True))) for index, parts in found.items()}


def _sizes(found: Mapping[Name, IndexFiles], with_rows: Container[Name], tables: Iterable[Row]) -> dict[Name, float]:
    """The primary key has the table's data; the others share what the server says of them all by their keys."""
    told = {(str(row["schema"]), str(row["name"])): row for row in tables}
    keys: dict[tuple[str, str], float] = defaultdict(float)
    for name, files in found.items():
        keys[name[:2]] += 0.0 if name in with_rows else files.bytes
    sizes = {}
    for name, files in found.items():
        if (row := told.get(name[:2])) is not None:
            share = files.bytes / keys[name[:2]] if keys[name[:2]] else 0.0
            sizes[name] = float(row["data_bytes"]) if name in with_rows else float(row["index_bytes"]) * share
    return sizes
