"""What mysqld and mariadbd say of themselves beside a step. What a release lacks is not asked: it says what it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from stepgrid.engines.mysqld import innodb, myrocks, table_sizes
from stepgrid.engines.mysqld.running_server import counters
from stepgrid.engines.mysqld.table_sizes import FROM, VIEWS
from stepgrid.plugins.server import Connection
from stepgrid.plugins.server_counters import in_rows
from stepgrid.plugins.server_statistics import (
    Looks,
    ServerStatistics,
    StatisticsReader,
    apart,
    lines,
)

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
    "rocksdb_perf_context_global.IO_THREAD_POOL_ID", "option_tracker_usage:*", "wsrep*",
)  # fmt: skip
_STATES = ("rocksdb_cfstats", "rocksdb_dbstats")  # as they are
_COUNTS = ("rocksdb_perf_context_global",)
_KEPT = ("rocksdb_global_info",)  # as rows, for people
_METRIC_VIEWS = ("innodb_metrics",)
_VIEWS = (*_STATES, *_COUNTS, *_KEPT, *_METRIC_VIEWS, myrocks.LEVELS, myrocks.FILES)
_ENGINES = {"INNODB": "innodb", "ROCKSDB": "rocksdb"}
_METRICS = (
    "SELECT name AS name, count AS value, type AS type FROM information_schema.innodb_metrics "
    "WHERE time_enabled IS NOT NULL"
)
_USED = f"SELECT DISTINCT engine AS engine {FROM}"


def looks(connection: Connection) -> Looks:
    there, used = set(_there(connection)), _used(connection)
    return (
        StatisticsReader("tables", partial(table_sizes.tables, connection)),
        *(StatisticsReader(f"{name}-status", partial(_said, connection, name)) for name in _running(connection)),
        *_garbage(connection, there, used),
        *(StatisticsReader(name, partial(_states, connection, name)) for name in _STATES if name in there),
        *(StatisticsReader(name, partial(_rows, connection, name)) for name in _KEPT if name in there),
        *_levels(connection, there),
        *(StatisticsReader(name, partial(_metrics, connection, used)) for name in _METRIC_VIEWS if name in there),
        *(StatisticsReader(name, partial(_counts, connection, name)) for name in _COUNTS if name in there),
        StatisticsReader("status", partial(_status, connection, used)),
    )


def _garbage(connection: Connection, there: set[str], used: set[str]) -> Iterator[StatisticsReader]:
    """By the storage engines that have tables."""
    if "INNODB" in used:
        yield StatisticsReader("innodb-indexes", partial(table_sizes.innodb_indexes, connection), after_only=True)
    if "ROCKSDB" in used:
        yield StatisticsReader("rocksdb-indexes", partial(myrocks.indexes, connection, there), after_only=True)


def _levels(connection: Connection, there: set[str]) -> list[StatisticsReader]:
    read = partial(myrocks.compactions, connection)
    return [StatisticsReader(myrocks.LEVELS, read)] if myrocks.LEVELS in there else []


def _used(connection: Connection) -> set[str]:
    return {str(row["engine"]).upper() for row in connection.query(_USED)}


def _there(connection: Connection) -> Iterator[str]:
    """Of the tables that plugins bring. MySQL 8 tells capitals from small letters in their names."""
    named = ", ".join(f"'{name}'" for name in _VIEWS)
    rows = connection.query(f"{VIEWS} AND lower(table_name) IN ({named})")
    return (str(row["name"]).lower() for row in rows)


def _running(connection: Connection) -> list[str]:
    rows = connection.query("SELECT engine AS name FROM information_schema.engines WHERE support IN ('YES', 'DEFAULT')")
    return sorted(_ENGINES[name] for row in rows if (name := str(row["name"]).upper()) in _ENGINES)


def _said(connection: Connection, engine: str) -> ServerStatistics:
    """One text, or one of each kind."""
    rows = connection.query(f"SHOW ENGINE {engine.upper()} STATUS")
    parts = [f"-- {row['Type']} {row['Name']}".rstrip() + f"\n{row['Status']}" for row in rows]
    return ServerStatistics(text="\n".join(parts))


def _states(connection: Connection, table: str) -> ServerStatistics:
    rows = connection.query(f"SELECT * FROM information_schema.{table}")
    gauges = _named(table, in_rows(rows))
    state = myrocks.block_cache(connection, gauges)
    return ServerStatistics(gauges=gauges, sizes=myrocks.memtables(gauges), state=state)


def _rows(connection: Connection, table: str) -> ServerStatistics:
    return ServerStatistics(text=lines(connection.query(f"SELECT * FROM information_schema.{table}")))


def _counts(connection: Connection, table: str) -> ServerStatistics:
    return apart(_named(table, in_rows(connection.query(f"SELECT * FROM information_schema.{table}"))), GAUGES)


def _status(connection: Connection, used: set[str]) -> ServerStatistics:
    seen = counters(connection)
    found = _with_history(apart(seen, GAUGES), used)
    state = innodb.buffer_pool(found.gauges) if used == {"INNODB"} else {}
    return found._replace(work=myrocks.volumes(seen), state=state)


def _with_history(seen: ServerStatistics, used: set[str]) -> ServerStatistics:
    """Where nothing but the server's own tables is InnoDB's, its history is nobody's garbage."""
    return seen._replace(garbage=innodb.history(seen.gauges)) if "INNODB" in used else seen


def _metrics(connection: Connection, used: set[str]) -> ServerStatistics:
    """Each says itself whether it counts, or tells a state."""
    rows = connection.query(_METRICS)
    still = [f"innodb_metrics.{row['name']}" for row in rows if row["type"] == "value"]
    seen = {str(row["name"]): float(row["value"]) for row in rows}
    return _with_history(apart(_named("innodb_metrics", seen), (*still, *GAUGES)), used)


def _named(table: str, seen: Mapping[str, float]) -> dict[str, float]:
    return {f"{table}.{name}": value for name, value in seen.items()}
