"""Statistics that mysqld and mariadbd tell beside a step: status variables, views, sizes of tables.

A release is not asked for what it lacks: it lists what it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from stepgrid.model.figures import DATA_BYTES, INDEX_BYTES
from stepgrid.plugins.server import (
    Connection,
    ObjectSize,
    ServerRow,
    ServerStatistics,
    StatisticsReader,
    StatisticsReaders,
    json_lines,
    row_counters,
    split_gauges,
)
from stepgrid_databases.engines.mysqld import innodb, myrocks
from stepgrid_databases.engines.mysqld.connection import OTHERS, OWN_TABLES, counters

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
_STATE_VIEWS = ("rocksdb_cfstats", "rocksdb_dbstats")
_COUNTER_VIEW, _TEXT_VIEW, _METRICS = "rocksdb_perf_context_global", "rocksdb_global_info", "innodb_metrics"
_VIEWS = (*_STATE_VIEWS, _COUNTER_VIEW, _TEXT_VIEW, _METRICS, myrocks.LEVELS, myrocks.FILES)
_USER_TABLES = (
    "FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN "
    f"('mysql', 'sys', 'information_schema', 'performance_schema') AND {OWN_TABLES}"
)


def looks(connection: Connection) -> StatisticsReaders:
    views = {name.lower() for name in _existing_views(connection, _VIEWS)}
    engines = {
        str(row["engine"]).upper() for row in connection.query(f"SELECT DISTINCT engine AS engine {_USER_TABLES}")
    }
    readers = [StatisticsReader("tables", partial(tables, connection))]
    rows = connection.query("SELECT engine AS name FROM information_schema.engines WHERE support IN ('YES', 'DEFAULT')")
    for name in sorted({str(row["name"]).lower() for row in rows} & {"innodb", "rocksdb"}):
        readers.append(StatisticsReader(f"{name}-status", partial(_status_text, connection, name)))
    if "INNODB" in engines:
        readers.append(StatisticsReader("innodb-indexes", partial(innodb_indexes, connection), after_only=True))
    if "ROCKSDB" in engines:
        read = partial(myrocks.indexes, connection, views)
        readers.append(StatisticsReader("rocksdb-indexes", read, after_only=True))
    view_readers: Sequence[tuple[str, Callable[[], ServerStatistics]]] = (
        *((name, partial(states, connection, name)) for name in _STATE_VIEWS),
        (_TEXT_VIEW, lambda: ServerStatistics(text=json_lines(_rows(connection, _TEXT_VIEW)))),
        (myrocks.LEVELS, partial(myrocks.compactions, connection)),
        (_METRICS, partial(_innodb_metrics, connection, engines)),
        (_COUNTER_VIEW, lambda: split_gauges(_values(connection, _COUNTER_VIEW), GAUGES)),
    )
    readers += [StatisticsReader(name, read) for name, read in view_readers if name in views]
    return (*readers, StatisticsReader("status", partial(_status, connection, engines)))


def _existing_views(connection: Connection, names: Iterable[str]) -> list[str]:
    """List views of plugins by their own names: MySQL 8 tells capitals from small letters in them."""
    listed = ", ".join(f"'{name}'" for name in names)
    rows = connection.query(
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'information_schema' "
        f"AND lower(table_name) IN ({listed})"
    )
    return [str(row["name"]) for row in rows]


def _status_text(connection: Connection, engine: str) -> ServerStatistics:
    """Join the texts of an engine's status: one, or one of each kind."""
    rows = connection.query(f"SHOW ENGINE {engine.upper()} STATUS")
    texts = [f"-- {row['Type']} {row['Name']}".rstrip() + f"\n{row['Status']}" for row in rows]
    return ServerStatistics(text="\n".join(texts))


def _rows(connection: Connection, view: str) -> list[ServerRow]:
    return connection.query(f"SELECT * FROM information_schema.{view}")


def _values(connection: Connection, view: str) -> dict[str, float]:
    return {f"{view}.{name}": value for name, value in row_counters(_rows(connection, view)).items()}


def states(connection: Connection, view: str) -> ServerStatistics:
    gauges = _values(connection, view)
    state = myrocks.block_cache(connection, gauges)
    return ServerStatistics(gauges=gauges, sizes=myrocks.memtables(gauges), state=state)


def _innodb_metrics(connection: Connection, engines: set[str]) -> ServerStatistics:
    """Read metrics, each of which says itself whether it counts or tells a state."""
    rows = connection.query(
        f"SELECT name AS name, count AS value, type AS type FROM information_schema.{_METRICS} "
        "WHERE time_enabled IS NOT NULL"
    )
    states = [f"{_METRICS}.{row['name']}" for row in rows if row["type"] == "value"]
    values = {f"{_METRICS}.{row['name']}": float(row["value"]) for row in rows}
    return _add_history(split_gauges(values, (*states, *GAUGES)), engines)


def _status(connection: Connection, engines: set[str]) -> ServerStatistics:
    values = counters(connection)
    statistics = _add_history(split_gauges(values, GAUGES), engines)
    state = innodb.buffer_pool(statistics.gauges) if engines == {"INNODB"} else {}
    return statistics._replace(work=myrocks.volumes(values), state=state)


def _add_history(statistics: ServerStatistics, engines: set[str]) -> ServerStatistics:
    """Count InnoDB's history as garbage only where tables of the benchmark are InnoDB's."""
    return statistics._replace(garbage=innodb.history(statistics.gauges)) if "INNODB" in engines else statistics


# Sizes of tables.

_TABLES = (
    "SELECT table_schema AS `schema`, table_name AS name, engine AS engine, table_rows AS `rows`, "
    "data_length AS data_bytes, index_length AS index_bytes, data_free AS free_bytes "
    f"{_USER_TABLES} ORDER BY table_schema, table_name"
)
# Bytes of files, in the view by the name that the release has for it; of a server that ran before also of others
_FILES = (
    "SELECT sum(file_size) AS bytes FROM information_schema.{view} "
    "WHERE name LIKE '%/%' AND name NOT LIKE 'mysql/%' AND name NOT LIKE 'sys/%' AND "
    f"({OTHERS} IS NULL OR name LIKE concat(DATABASE(), '/%'))"
)
_EXPIRY = "information_schema_stats_expiry"  # seconds for which MySQL believes what it knew of sizes
_SPARE = 8 * 2**20  # bytes of files that may be empty, whatever the statistics say


def tables(connection: Connection) -> ServerStatistics:
    rows, current = _table_rows(connection)
    if not current:
        return ServerStatistics(text=json_lines(rows))
    free = [row["free_bytes"] or 0 for row in rows if _is_innodb(row)]
    objects = []
    for row in rows:
        size = float((row["data_bytes"] or 0) + (row["index_bytes"] or 0))
        bloat = float(row["free_bytes"] or 0) if _is_innodb(row) else None
        count = None if row["rows"] is None else float(row["rows"])
        objects.append(ObjectSize(str(row["schema"]), str(row["name"]), rows=count, bytes=size, bloat_bytes=bloat))
    return ServerStatistics(
        sizes={name: _sum(rows, name) for name in (DATA_BYTES, INDEX_BYTES)},
        text=json_lines(rows),
        garbage={"bloat_bytes": float(sum(free))} if free else {},
        objects=objects,
    )


def innodb_indexes(connection: Connection) -> ServerStatistics:
    rows, current = _table_rows(connection)
    tables = [row for row in rows if _is_innodb(row)]
    return ServerStatistics(objects=innodb.index_sizes(connection, tables) if current else [])


def _table_rows(connection: Connection) -> tuple[list[ServerRow], bool]:
    """Read tables, and check that their sizes are current: InnoDB updates them seconds after many changes."""
    if connection.query(f"SHOW VARIABLES LIKE '{_EXPIRY}'"):
        connection.query(f"SET SESSION {_EXPIRY} = 0")
    rows = connection.query(_TABLES)
    size, files = sum(_sum(rows, name) for name in (DATA_BYTES, INDEX_BYTES, "free_bytes")), _file_bytes(connection)
    return rows, files - size <= _SPARE or size >= files / 2


def _file_bytes(connection: Connection) -> float:
    """Sum InnoDB's files; 0 where a user may not know, or with another storage engine."""
    views = _existing_views(connection, ("innodb_tablespaces", "innodb_sys_tablespaces"))
    try:
        return sum(_sum(connection.query(_FILES.format(view=view)), "bytes") for view in views)
    except Exception:  # of each client its own
        return 0.0


def _is_innodb(row: ServerRow) -> bool:
    return str(row["engine"]).upper() == "INNODB"


def _sum(rows: Sequence[ServerRow], name: str) -> float:
    return float(sum(row.get(name) or 0 for row in rows))
