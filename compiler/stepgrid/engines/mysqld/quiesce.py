"""When mysqld or mariadbd has nothing left to do: InnoDB's dirty pages and history, MyRocks' compactions.

What each is called differs by fork and release: the server is asked what it has, and what it lacks is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from stepgrid.engines.mysqld.connection import OWN_TABLES, connect
from stepgrid.plugins.server import Access, Connection, IdleReading, for_each

MYROCKS = "rocksdb"
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
_FLUSH = "rocksdb_force_flush_memtable_now"
_COMPACT = ("rocksdb_compact_lzero_now", "rocksdb_force_flush_memtable_and_lzero_now")  # Facebook MySQL, MariaDB
_METRICS = (
    "SELECT name AS name, count AS value FROM information_schema.innodb_metrics "
    "WHERE time_enabled IS NOT NULL AND name IN ('trx_rseg_history_len', 'ibuf_size')"
)
_FAMILIES = (
    "SELECT stat_type AS name, sum(value) AS value FROM information_schema.rocksdb_cfstats "
    "WHERE stat_type IN ('CUR_SIZE_ALL_MEM_TABLES', 'NUM_IMMUTABLE_MEM_TABLE', 'COMPACTION_PENDING') GROUP BY stat_type"
)
_BUFFERS = (
    "SELECT sum(a.value * b.value) AS most FROM information_schema.rocksdb_cf_options AS a "
    "JOIN information_schema.rocksdb_cf_options AS b ON a.cf_name = b.cf_name "
    "WHERE a.option_type = 'WRITE_BUFFER_SIZE' AND b.option_type = 'MAX_WRITE_BUFFER_NUMBER'"
)
_HISTORY = "Innodb_history_list_length"
_NO_PRIVILEGE = 1227
_LACKING = "the user `{user}` needs PROCESS to see what the server has left to do (`GRANT PROCESS ON *.*`)"
_TABLES = (
    "SELECT concat('`', replace(table_schema, '`', '``'), '`.`', replace(table_name, '`', '``'), '`') AS name "
    "FROM information_schema.tables WHERE table_type = 'BASE TABLE' "
    f"AND table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') AND {OWN_TABLES}"
)


@contextmanager
def settle(connection: Connection, access: Access) -> Iterator[None]:
    """InnoDB writes its dirty pages back for as long as this lasts; MyRocks flushes now, and compacts level 0.

    Of a server that ran before nothing is set: who else uses it would have it set too.
    """
    if access.running:
        yield
        return
    if access.storage_engine == MYROCKS:
        _flush(connection)
        yield
        return
    before = variables(connection, _HURRY)
    try:
        for name in before:
            connection.query(f"SET GLOBAL {name} = {_HURRY[name]}")
        yield
    finally:
        for name, value in reversed(before.items()):
            connection.query(f"SET GLOBAL {name} = {value}")


def _flush(connection: Connection) -> None:
    """Level 0 comes after the memtables, which make files of it."""
    for name in list(variables(connection, (_FLUSH, *_COMPACT)))[:2]:
        connection.query(f"SET GLOBAL {name} = 1")


def analyze(connection: Connection, access: Access) -> None:
    tables = [str(row["name"]) for row in connection.query(_TABLES)]
    for_each(tables, partial(connect, access), "ANALYZE NO_WRITE_TO_BINLOG TABLE {}")


def busy(connection: Connection, access: Access) -> Sequence[IdleReading]:
    try:
        return _busy(connection, access)
    except Exception as error:
        if error.args[:1] == (_NO_PRIVILEGE,):
            raise PermissionError(_LACKING.format(user=access.user)) from None
        raise


def _busy(connection: Connection, access: Access) -> Sequence[IdleReading]:
    if access.storage_engine == MYROCKS:
        families = {str(row["name"]): float(row["value"]) for row in connection.query(_FAMILIES)}
        (row,) = connection.query(_BUFFERS)
        return myrocks({**families, "most": float(row["most"])}, connection.query("SHOW ENGINE ROCKSDB STATUS"))
    status = _named(connection, "STATUS", ("Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_pages_total"))
    aims = {name: float(value) for name, value in variables(connection, _HURRY).items()}
    return innodb({**status, **_purge(connection)}, aims)


def _purge(connection: Connection) -> dict[str, float]:
    """By MySQL's names; MariaDB has a status variable, and no change buffer from 11.0 on."""
    found = {str(row["name"]): float(row["value"]) for row in connection.query(_METRICS)}
    said = _named(connection, "STATUS", (_HISTORY,))
    return {**found, **({"trx_rseg_history_len": said[_HISTORY]} if said else {})}


def innodb(seen: Mapping[str, float], aims: Mapping[str, float]) -> Sequence[IdleReading]:
    """Dirty pages are many when there are more than the server itself aims at."""
    aim = aims.get("innodb_max_dirty_pages_pct_lwm", 0.0) or aims.get("innodb_max_dirty_pages_pct", 0.0)
    most = seen["Innodb_buffer_pool_pages_total"] * max(aim, LOW_PCT) / 100
    found = [IdleReading("dirty pages", seen["Innodb_buffer_pool_pages_dirty"], most, "pages")]
    if "trx_rseg_history_len" in seen:
        found.append(IdleReading("history list", seen["trx_rseg_history_len"], LOW_HISTORY, "transactions"))
    if "ibuf_size" in seen:
        found.append(IdleReading("change buffer", seen["ibuf_size"], 1, "pages"))  # its root is always there
    return found


def myrocks(families: Mapping[str, float], status: Sequence[Mapping[str, Any]]) -> Sequence[IdleReading]:
    """`families`: summed over the column families; whether one has a compaction pending is 1 or 0.

    What memtables hold is nothing to wait for below what they may hold; that they are flushed is asked for.
    """
    threads = [str(row["Status"]) for row in status if row["Type"] == "BG_THREADS"]
    return (
        IdleReading("memtables", families["CUR_SIZE_ALL_MEM_TABLES"], families["most"], "B"),
        IdleReading("memtables to flush", families.get("NUM_IMMUTABLE_MEM_TABLE", 0.0), 0),
        IdleReading("flushes", float(sum("operation_type: Flush" in thread for thread in threads)), 0),
        IdleReading("pending compactions", families.get("COMPACTION_PENDING", 0.0), 0, "column families"),
        IdleReading("compactions", float(sum("operation_type: Compaction" in thread for thread in threads)), 0),
    )


def variables(connection: Connection, names: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """Those of them that the server has, in this order."""
    found = {str(row["Variable_name"]).lower(): str(row["Value"]) for row in _show(connection, "VARIABLES", names)}
    return {name: found[name] for name in names if name in found}


def _named(connection: Connection, kind: str, names: Sequence[str]) -> dict[str, float]:
    return {str(row["Variable_name"]): float(row["Value"]) for row in _show(connection, kind, names)}


def _show(connection: Connection, kind: str, names: Mapping[str, str] | Sequence[str]) -> Sequence[Mapping[str, Any]]:
    listed = ", ".join(f"'{name}'" for name in names)
    return connection.query(f"SHOW GLOBAL {kind} WHERE Variable_name IN ({listed})")
