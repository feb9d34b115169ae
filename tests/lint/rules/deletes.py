# ruff: noqa: E501
"""Rules of stepgrid_databases.engines.mysqld.options."""

MYROCKS = """\
title: t
builds: {m: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
steps: [{name: s, kind: sysbench, lua: point_query, duration: 10m}]
params: {rows: 1M, storage_engine: rocksdb}
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {system: sysbench}}}}
options: [{rocksdb_compaction_sequential_deletes: %s, rocksdb_compaction_sequential_deletes_window: %s}]
"""

FIRES = {
    "sequential-deletes": [
        (MYROCKS % (8192, 8192), "8,192 sequential deletes in a window of 8,192 keys: the number must be below the window"),
        (MYROCKS % (100, 0), "`rocksdb_compaction_sequential_deletes` does nothing: its window is 0"),
    ],
}  # fmt: skip

QUIET = {
    "sequential-deletes": [MYROCKS % (8191, 8192), MYROCKS % (0, 0)],
}  # fmt: skip
