"""Statistics of InnoDB: its buffer pool, history list, sizes of indexes; and when it has nothing left to do."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from stepgrid.model.figures import CACHE_BYTES, CACHED_BYTES, HISTORY_LENGTH
from stepgrid.model.plan import Value
from stepgrid.plugins.server import Access, Connection, IdleReading, ObjectSize, ServerRow
from stepgrid_databases.engines.mysqld.connection import named_counters, named_variables

_HISTORY = "Innodb_history_list_length"  # MariaDB's status variable; MySQL has a metric
_HISTORY_METRIC = "trx_rseg_history_len"
_DIRTY, _TOTAL = "Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_pages_total"
_PAGES = (
    "SELECT i.database_name AS `schema`, i.table_name AS `table`, i.index_name AS name, i.stat_value AS pages, "
    "t.clustered_index_size AS clustered FROM mysql.innodb_index_stats AS i JOIN mysql.innodb_table_stats AS t "
    "ON t.database_name = i.database_name AND t.table_name = i.table_name WHERE i.stat_name = 'size'"
)


def history(gauges: Mapping[str, float]) -> dict[str, float]:
    names = (_HISTORY, f"innodb_metrics.{_HISTORY_METRIC}")
    length = next((gauges[name] for name in names if name in gauges), None)
    return {} if length is None else {HISTORY_LENGTH: length}


def buffer_pool(gauges: Mapping[str, float]) -> dict[str, float]:
    """Compute the bytes that the pool holds, of any table, and may hold."""
    names = ("page_size", "buffer_pool_pages_data", "buffer_pool_pages_total")
    page, data, total = (gauges.get(f"Innodb_{name}") for name in names)
    return {CACHED_BYTES: data * page, CACHE_BYTES: total * page} if page and data is not None and total else {}


def index_sizes(connection: Connection, tables: Sequence[ServerRow]) -> list[ObjectSize]:
    """Share out the bytes of tables by pages: what a page is differs where they are compressed."""
    data = {(str(row["schema"]), str(row["name"])): float(row["data_bytes"] or 0) for row in tables}
    pages: dict[tuple[str, str, str], float] = defaultdict(float)
    clustered: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in _index_pages(connection):
        schema, partition = str(row["schema"]), str(row["table"])
        table = partition.partition("#")[0]  # of a partition: t#P#p0
        pages[schema, table, str(row["name"])] += float(row["pages"])
        clustered[schema, table][partition] = float(row["clustered"])
    table_pages = {table: sum(partitions.values()) for table, partitions in clustered.items()}
    return [
        ObjectSize(schema, table, index, bytes=count * data[schema, table] / table_pages[schema, table])
        for (schema, table, index), count in sorted(pages.items())
        if data.get((schema, table)) and table_pages[schema, table]
    ]


def _index_pages(connection: Connection) -> Sequence[ServerRow]:
    try:
        return connection.query(_PAGES)
    except Exception as error:  # of each client its own; a user of somebody else's server may not read them
        reason = error.args[-1] if error.args else type(error).__name__
        raise LookupError(f"the server does not tell how large its indexes are: {reason}") from error


# Warming: a list of the pages in the pool, written at an orderly end and loaded at a start.

LOADING_OPTIONS: Mapping[str, Value] = {"innodb_buffer_pool_load_at_startup": True}
_LOADING = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_load_status'"


def page_list(storage_engine: str, options: Mapping[str, Value]) -> str:
    return str(options.get("innodb_buffer_pool_filename", "ib_buffer_pool")) if storage_engine == "innodb" else ""


def loading_end(connection: Connection, log: str) -> str:
    (name,) = LOADING_OPTIONS
    if named_variables(connection, (name,)).get(name) not in ("ON", "1"):
        raise LookupError(f"InnoDB loads no pages: `{name}` is off, or unknown to this release")
    text = "".join(str(row["Value"]) for row in connection.query(_LOADING))
    if re.search(r"Cannot open|Error|abort", text):
        raise LookupError(f"InnoDB did not load its pages: {text}")
    return text if "completed" in text else ""


# Idleness: dirty pages are written back, the history is purged.

LOW_PCT = 1.0  # of the buffer pool: dirty pages that an idle server keeps making
LOW_HISTORY = 1000.0  # transactions: what MySQL leaves in its history until there are enough for a truncation
# In this order: the low-water mark may not lie above the other. 100 is what older releases do when they are idle. The
# history is else shortened at every 128th purge only, and idle servers do not purge.
_HURRY = {
    "innodb_max_dirty_pages_pct_lwm": "0",
    "innodb_max_dirty_pages_pct": "0",
    "innodb_idle_flush_pct": "100",
    "innodb_purge_rseg_truncate_frequency": "1",
}
_METRICS = (
    "SELECT name AS name, count AS value FROM information_schema.innodb_metrics "
    f"WHERE time_enabled IS NOT NULL AND name IN ('{_HISTORY_METRIC}', 'ibuf_size')"
)


@contextmanager
def hurry(connection: Connection) -> Iterator[None]:
    """Have dirty pages written back for as long as this lasts."""
    before = named_variables(connection, _HURRY)
    try:
        for name in before:
            connection.query(f"SET GLOBAL {name} = {_HURRY[name]}")
        yield
    finally:
        for name, value in reversed(before.items()):
            connection.query(f"SET GLOBAL {name} = {value}")


def idle_readings(connection: Connection) -> Sequence[IdleReading]:
    """Read what this release has: MariaDB has no change buffer from 11.0 on.

    Dirty pages are many when there are more than the server itself aims at.
    """
    pages = named_counters(connection, (_DIRTY, _TOTAL))
    aims = {name: float(value) for name, value in named_variables(connection, _HURRY).items()}
    metrics = {str(row["name"]): float(row["value"]) for row in connection.query(_METRICS)}
    length = named_counters(connection, (_HISTORY,)).get(_HISTORY, metrics.get(_HISTORY_METRIC))
    aim = aims.get("innodb_max_dirty_pages_pct_lwm", 0.0) or aims.get("innodb_max_dirty_pages_pct", 0.0)
    readings = [IdleReading("dirty pages", pages[_DIRTY], pages[_TOTAL] * max(aim, LOW_PCT) / 100, "pages")]
    if length is not None:
        readings.append(IdleReading("history list", length, LOW_HISTORY, "transactions"))
    if "ibuf_size" in metrics:
        readings.append(IdleReading("change buffer", metrics["ibuf_size"], 1, "pages"))  # its root is always there
    return readings


# Pressure: states from which InnoDB flushes or purges at the cost of its clients.

LOG_SHARE = 0.75  # of the redo log that may be in use; from seven eighths on InnoDB flushes whatever that takes
USABLE = 0.85  # of MySQL's capacity, which has a reserve; MariaDB says what may be in use
LONG_HISTORY = 100_000.0  # transactions to purge, of which each read of a changed row may meet some
DEBTS: Mapping[str, Mapping[str, str]] = {
    "innodb": {
        "redo pressure": "age of the checkpoint",
        "flush pressure": "number of dirty pages",
        "purge pressure": "history list",
    }
}
_AGE, _MOST_AGE = "Innodb_checkpoint_age", "Innodb_checkpoint_max_age"  # MariaDB's
_CAPACITY = "Innodb_redo_log_capacity_resized"  # MySQL's, from 8.0.30 on
_POSITIONS = ("Innodb_redo_log_current_lsn", "Innodb_redo_log_checkpoint_lsn")
_MOST_DIRTY = "innodb_max_dirty_pages_pct"


def pressures(connection: Connection) -> Sequence[IdleReading]:
    """Read the redo log that is in use, dirty pages and history list, as far as this release tells them."""
    values = named_counters(connection, (_DIRTY, _TOTAL, _AGE, _MOST_AGE, _CAPACITY, *_POSITIONS, _HISTORY))
    metrics = {str(row["name"]): float(row["value"]) for row in connection.query(_METRICS)}
    readings = []
    if _AGE in values and _MOST_AGE in values:
        readings.append(IdleReading("redo pressure", values[_AGE], LOG_SHARE * values[_MOST_AGE], "B"))
    elif values.keys() >= {_CAPACITY, *_POSITIONS}:
        age = values[_POSITIONS[0]] - values[_POSITIONS[1]]
        readings.append(IdleReading("redo pressure", age, LOG_SHARE * USABLE * values[_CAPACITY], "B"))
    most = float(named_variables(connection, (_MOST_DIRTY,))[_MOST_DIRTY])
    readings.append(IdleReading("flush pressure", values[_DIRTY], values[_TOTAL] * most / 100, "pages"))
    if (length := values.get(_HISTORY, metrics.get(_HISTORY_METRIC))) is not None:
        readings.append(IdleReading("purge pressure", length, LONG_HISTORY, "transactions"))
    return readings


# The redo log: how far it is written, and how far a power cut leaves it.

_REDO = (
    ("Innodb_lsn_current", "Innodb_lsn_flushed"),  # MariaDB
    ("Innodb_redo_log_current_lsn", "Innodb_redo_log_flushed_to_disk_lsn"),  # MySQL, from 8.0.30 on
)


def tells_log(storage_engine: str) -> bool:
    return storage_engine == "innodb"


def log_positions(connection: Connection, access: Access) -> tuple[float, float]:
    if not tells_log(access.storage_engine):
        raise LookupError(f"{access.storage_engine} does not tell what of its log is flushed")
    values = named_counters(connection, [name for names in _REDO for name in names])
    for written, flushed in _REDO:
        if written in values and flushed in values:
            return values[written], values[flushed]
    raise LookupError("this release does not tell what of its redo log is flushed: MySQL does from 8.0.30 on")
