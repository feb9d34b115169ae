"""What mysqld and mariadbd say of themselves beside a step. What a release lacks is not asked: it says what it has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from stepgrid.engines.mysqld.connection import OTHERS, OWN_TABLES
from stepgrid.engines.mysqld.running_server import counters
from stepgrid.plugins.server import Connection
from stepgrid.plugins.server_counters import in_rows
from stepgrid.plugins.server_statistics import DATA, INDEX, Looks, ServerStatistics, StatisticsReader, apart

# of the status variables: what is as it is, or the largest so far
GAUGES = (
    "*_avg_*time", "*_last_timestamp", "*_open_temp_tables", "*_pct_*", "*_pending*", "*_queue_size", "*_running",
    "Acl_*", "Aria_pagecache_blocks_*", "Binlog_disk_use", "Binlog_snapshot_position", "Delayed_insert_threads",
    "Error_log_buffered_*", "Error_log_latest_write", "Global_connection_memory", "Innodb_available_undo_logs",
    "Innodb_buffer_pool_bytes_*", "Innodb_buffer_pool_pages_data", "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_free", "Innodb_buffer_pool_pages_latched", "Innodb_buffer_pool_pages_misc",
    "Innodb_buffer_pool_pages_old", "Innodb_buffer_pool_pages_total", "Innodb_buffer_pool_resize_status_*",
    "Innodb_checkpoint_*age", "Innodb_encryption_rotation_estimated_iops", "Innodb_history_list_length",
    "Innodb_ibuf_free_list", "Innodb_ibuf_segment_size", "Innodb_ibuf_size", "Innodb_max_trx_id", "Innodb_mem_*",
    "Innodb_num_open_files", "Innodb_page_size", "Innodb_redo_log_*", "Innodb_row_lock_current_waits",
    "Innodb_row_lock_time_avg", "Innodb_row_lock_time_max", "Innodb_undo_tablespaces_*", "Key_blocks_*",
    "Last_query_*", "Max_tmp_space_used", "Max_used_connections*", "Memory_used*", "Not_flushed_delayed_rows",
    "Ongoing_*", "Open_files", "Open_streams", "Open_table*", "Prepared_stmt_count", "Qcache_free_*",
    "Qcache_queries_in_cache", "Qcache_total_blocks", "Rpl_semi_sync_master_clients", "Slave_connections",
    "Slave_heartbeat_period", "Slaves_connected", "Ssl_*", "Stack_usage", "Table_open_cache_active_instances",
    "Tc_log_*", "Telemetry_*", "Threadpool_*", "Threads_cached", "Threads_connected", "Tmp_space_used",
    "[Rr]ocksdb_memtable_*", "[Rr]ocksdb_num_iterators", "innodb_metrics.*_current_waits", "innodb_metrics.ibuf_size",
    "option_tracker_usage:*", "wsrep*",
)  # fmt: skip
_STATES = ("rocksdb_cfstats", "rocksdb_dbstats", "rocksdb_compaction_stats")  # as they are, or since it was opened
_COUNTS = ("rocksdb_perf_context_global",)
_KEPT = ("rocksdb_compaction_stats", "rocksdb_global_info")  # as rows, for people
_ENGINES = {"INNODB": "innodb", "ROCKSDB": "rocksdb"}
_METRICS = (
    "SELECT name AS name, count AS value, type AS type FROM information_schema.innodb_metrics "
    "WHERE time_enabled IS NOT NULL"
)
_FRESH = "information_schema_stats_expiry"  # seconds for which MySQL believes what it knew of sizes
_TABLES = (
    "SELECT table_schema AS `schema`, table_name AS name, engine AS engine, table_rows AS `rows`, "
    "data_length AS data_bytes, index_length AS index_bytes, data_free AS free_bytes FROM information_schema.tables "
    "WHERE table_type = 'BASE TABLE' AND table_schema NOT IN "
    f"('mysql', 'sys', 'information_schema', 'performance_schema') AND {OWN_TABLES} ORDER BY table_schema, table_name"
)

_NAMES = "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'information_schema'"
# Their files, by the name that the release has for the table; of a server that ran before also those of others
_FILES = (
    "SELECT sum(file_size) AS bytes FROM information_schema.{table} "
    "WHERE name LIKE '%/%' AND name NOT LIKE 'mysql/%' AND name NOT LIKE 'sys/%' AND "
    f"({OTHERS} IS NULL OR name LIKE concat(DATABASE(), '/%'))"
)
_TABLESPACES = ("innodb_tablespaces", "innodb_sys_tablespaces")
_SPARE = 8 * 2**20  # bytes of files that may be empty, whatever the statistics say


def looks(connection: Connection) -> Looks:
    there = set(_there(connection))
    return (
        StatisticsReader("tables", partial(_tables, connection)),
        *(StatisticsReader(f"{name}-status", partial(_said, connection, name)) for name in _running(connection)),
        *(StatisticsReader(name, partial(_states, connection, name)) for name in _STATES if name in there),
        *(StatisticsReader(name, partial(_rows, connection, name)) for name in _KEPT[1:] if name in there),
        *([StatisticsReader("innodb_metrics", partial(_metrics, connection))] if "innodb_metrics" in there else []),
        *(StatisticsReader(name, partial(_counts, connection, name)) for name in _COUNTS if name in there),
        StatisticsReader("status", lambda: apart(counters(connection), GAUGES)),
    )


def _there(connection: Connection) -> Iterator[str]:
    """Of the tables that plugins bring. MySQL 8 tells capitals from small letters in their names."""
    named = ", ".join(f"'{name}'" for name in (*_STATES, *_COUNTS, *_KEPT, "innodb_metrics"))
    rows = connection.query(f"{_NAMES} AND lower(table_name) IN ({named})")
    return (str(row["name"]).lower() for row in rows)


def _running(connection: Connection) -> list[str]:
    rows = connection.query("SELECT engine AS name FROM information_schema.engines WHERE support IN ('YES', 'DEFAULT')")
    return sorted(_ENGINES[name] for row in rows if (name := str(row["name"]).upper()) in _ENGINES)


def _tables(connection: Connection) -> ServerStatistics:
    if connection.query(f"SHOW VARIABLES LIKE '{_FRESH}'"):
        connection.query(f"SET SESSION {_FRESH} = 0")
    rows = connection.query(_TABLES)
    sizes = {name: _sum(rows, name) for name in (DATA, INDEX)}
    known = not _outdated(sum(sizes.values()) + _sum(rows, "free_bytes"), _in_files(connection))
    return ServerStatistics(sizes=sizes if known else {}, text=_lines(rows))


def _sum(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(sum(row.get(name) or 0 for row in rows))


def _in_files(connection: Connection) -> float:
    """0 where it cannot be told: of another storage engine, or to a user who may not know."""
    named = ", ".join(f"'{name}'" for name in _TABLESPACES)
    there = connection.query(f"{_NAMES} AND lower(table_name) IN ({named})")
    try:
        return sum(_sum(connection.query(_FILES.format(table=row["name"])), "bytes") for row in there)
    except Exception:  # of each client its own
        return 0.0


def _outdated(told: float, files: float) -> bool:
    """InnoDB has what it says of a table from its statistics, which are made seconds after many changes."""
    return files - told > _SPARE and told < files / 2


def _said(connection: Connection, engine: str) -> ServerStatistics:
    """One text, or one of each kind."""
    rows = connection.query(f"SHOW ENGINE {engine.upper()} STATUS")
    parts = [f"-- {row['Type']} {row['Name']}".rstrip() + f"\n{row['Status']}" for row in rows]
    return ServerStatistics(text="\n".join(parts))


def _states(connection: Connection, table: str) -> ServerStatistics:
    rows = connection.query(f"SELECT * FROM information_schema.{table}")
    return ServerStatistics(gauges=_named(table, in_rows(rows)), text=_lines(rows) if table in _KEPT else "")


def _rows(connection: Connection, table: str) -> ServerStatistics:
    return ServerStatistics(text=_lines(connection.query(f"SELECT * FROM information_schema.{table}")))


def _counts(connection: Connection, table: str) -> ServerStatistics:
    return ServerStatistics(_named(table, in_rows(connection.query(f"SELECT * FROM information_schema.{table}"))))


def _metrics(connection: Connection) -> ServerStatistics:
    """Each says itself whether it counts, or tells a state."""
    rows = connection.query(_METRICS)
    still = [f"innodb_metrics.{row['name']}" for row in rows if row["type"] == "value"]
    seen = {str(row["name"]): float(row["value"]) for row in rows}
    return apart(_named("innodb_metrics", seen), (*still, *GAUGES))


def _named(table: str, seen: Mapping[str, float]) -> dict[str, float]:
    return {f"{table}.{name}": value for name, value in seen.items()}


def _lines(rows: list[Mapping[str, object]]) -> str:
    return "".join(f"{json.dumps(row, default=str)}\n" for row in rows)
