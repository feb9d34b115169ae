"""What MariaDB 11.8 with MyRocks and MySQL 5.7 said, of more rows."""

from __future__ import annotations

from typing import Any

from stepgrid.engines.mysqld.server_statistics import GAUGES, looks
from stepgrid.plugins.server_statistics import ServerStatistics, apart
from tests.engines.told import Told as Connection

STATUS = [
    {"Variable_name": "Questions", "Value": "70"},
    {"Variable_name": "Threads_running", "Value": "1"},
    {"Variable_name": "Innodb_buffer_pool_pages_dirty", "Value": "3"},
    {"Variable_name": "Innodb_buffer_pool_pages_flushed", "Value": "12"},
    {"Variable_name": "Innodb_buffer_pool_dump_status", "Value": "not started"},
]
TABLES = [
    {"schema": "stepgrid", "name": "t", "engine": "ROCKSDB", "rows": 9, "data_bytes": 700, "index_bytes": 300},
    {"schema": "stepgrid", "name": "v", "engine": None, "rows": None, "data_bytes": None, "index_bytes": None},
]
ROCKSDB: dict[str, list[Any]] = {
    "information_schema.engines": [{"name": "InnoDB"}, {"name": "ROCKSDB"}, {"name": "CSV"}],
    "table_schema = 'information_schema'": [
        {"name": "ROCKSDB_CFSTATS"}, {"name": "ROCKSDB_PERF_CONTEXT_GLOBAL"}, {"name": "INNODB_METRICS"}
    ],
    "information_schema.rocksdb_cfstats": [{"CF_NAME": "default", "STAT_TYPE": "MEM_TABLE_FLUSH_PENDING", "VALUE": 0}],
    "information_schema.rocksdb_perf_context_global": [
        {"STAT_TYPE": "INTERNAL_DELETE_SKIPPED_COUNT", "VALUE": 36144100},
        {"STAT_TYPE": "BLOCK_READ_TIME", "VALUE": -1},
    ],
    "information_schema.innodb_metrics": [
        {"name": "buffer_pages_read", "value": 8, "type": "counter"},
        {"name": "trx_rseg_history_len", "value": 5, "type": "value"},
    ],
    "show global status": STATUS,
    "AS data_bytes": TABLES,
    "SHOW ENGINE INNODB STATUS": [{"Type": "InnoDB", "Name": "", "Status": "\nINNODB MONITOR"}],
    "SHOW ENGINE ROCKSDB STATUS": [
        {"Type": "STATISTICS", "Name": "rocksdb", "Status": "a COUNT : 1"},
        {"Type": "DBSTATS", "Name": "rocksdb", "Status": "** DB Stats **"},
    ],
}  # fmt: skip


def _told(answers: dict[str, list[Any]]) -> dict[str, ServerStatistics]:
    return {look.name: look.read() for look in looks(Connection(answers))}


def test_myrocks() -> None:
    found = _told(ROCKSDB)
    assert [*found] == [
        "tables", "innodb-status", "rocksdb-status", "rocksdb_cfstats", "innodb_metrics",
        "rocksdb_perf_context_global", "status",
    ]  # fmt: skip
    assert found["tables"].sizes == {"data_bytes": 700.0, "index_bytes": 300.0}
    assert found["rocksdb-status"].text == ("-- STATISTICS rocksdb\na COUNT : 1\n-- DBSTATS rocksdb\n** DB Stats **")
    assert found["rocksdb_cfstats"].gauges == {"rocksdb_cfstats.default.MEM_TABLE_FLUSH_PENDING": 0.0}
    assert found["rocksdb_perf_context_global"] == ServerStatistics(
        {
            "rocksdb_perf_context_global.INTERNAL_DELETE_SKIPPED_COUNT": 36144100.0,
            "rocksdb_perf_context_global.BLOCK_READ_TIME": -1.0,
        }
    )
    assert found["innodb_metrics"] == ServerStatistics(
        {"innodb_metrics.buffer_pages_read": 8.0}, {"innodb_metrics.trx_rseg_history_len": 5.0}
    )
    assert found["status"] == ServerStatistics(
        {"Questions": 70.0, "Innodb_buffer_pool_pages_flushed": 12.0},
        {"Threads_running": 1.0, "Innodb_buffer_pool_pages_dirty": 3.0},
    )


def test_what_a_server_lacks_is_not_asked() -> None:
    found = _told({"show global status": STATUS})
    assert [*found] == ["tables", "status"]
    assert found["tables"] == ServerStatistics(sizes={"data_bytes": 0.0, "index_bytes": 0.0})


def test_mysql_8_is_asked_for_sizes_of_now() -> None:
    connection = Connection({"SHOW VARIABLES LIKE 'information_schema_stats_expiry'": [{"Value": "86400"}]})
    looks(connection)[0].read()
    assert "SET SESSION information_schema_stats_expiry = 0" in connection.asked


def test_names_are_asked_for_in_small_letters() -> None:
    """MySQL 8 has them in capitals, and tells the difference."""
    connection = Connection({})
    looks(connection)[0].read()
    asked = [sql for sql in connection.asked if "table_schema = 'information_schema'" in sql]
    assert len(asked) == 2
    assert all("AND lower(table_name) IN ('" in sql for sql in asked)


def test_sizes_that_innodb_has_not_looked_at_yet_are_missing() -> None:
    """A load of 40,000 rows of MySQL 8.0.31, right after it; then a while later."""
    files = {"'innodb_sys_tablespaces')": [{"name": "INNODB_TABLESPACES"}], "sum(file_size)": [{"bytes": 37748736}]}
    rows = [{"name": "sbtest1", "data_bytes": 32768, "index_bytes": 0, "free_bytes": 8388608}]
    found = looks(Connection({**files, "AS data_bytes": rows}))[0].read()
    assert (found.sizes, found.text.count("sbtest1")) == ({}, 1)
    rows = [{"name": "sbtest1", "data_bytes": 15745024, "index_bytes": 2686976, "free_bytes": 8388608}]
    assert looks(Connection({**files, "AS data_bytes": rows}))[0].read().sizes == {
        "data_bytes": 15745024.0,
        "index_bytes": 2686976.0,
    }


def test_counters_and_what_only_looks_like_one() -> None:
    names = {"Open_tables": 1.0, "Opened_tables": 1.0, "Innodb_data_pending_reads": 1.0, "Innodb_data_reads": 1.0,
             "Innodb_lsn_current": 1.0, "Innodb_checkpoint_age": 1.0, "Max_used_connections": 1.0,
             "rocksdb_memtable_total": 1.0, "rocksdb_stall_micros": 1.0}  # fmt: skip
    assert [*apart(names, GAUGES).counters] == [
        "Opened_tables", "Innodb_data_reads", "Innodb_lsn_current", "rocksdb_stall_micros"
    ]  # fmt: skip
