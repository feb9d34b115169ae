"""What MariaDB 11.8 with MyRocks and MySQL 5.7 said, of more rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stepgrid.engines.mysqld.server_statistics import GAUGES, looks
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.server_statistics import ObjectSize, ServerStatistics, apart
from tests.engines.told import Told as Connection

STATUS = [
    {"Variable_name": "Questions", "Value": "70"},
    {"Variable_name": "Threads_running", "Value": "1"},
    {"Variable_name": "Innodb_buffer_pool_pages_dirty", "Value": "3"},
    {"Variable_name": "Innodb_buffer_pool_pages_flushed", "Value": "12"},
    {"Variable_name": "Innodb_buffer_pool_dump_status", "Value": "not started"},
]
NOTHING = {"rows": None, "data_bytes": None, "index_bytes": None, "free_bytes": None}
INDEX = {"schema": "stepgrid", "table": "t", "family": "default", "family_id": 0}
MYROCKS = {"schema": "stepgrid", "name": "t", "engine": "ROCKSDB"}
TABLES = [
    {**MYROCKS, "rows": 9, "data_bytes": 700, "index_bytes": 300, "free_bytes": 0},
    {"schema": "stepgrid", "name": "v", "engine": None, **NOTHING},
]
ROCKSDB: dict[str, list[Any]] = {
    "information_schema.engines": [{"name": "InnoDB"}, {"name": "ROCKSDB"}, {"name": "CSV"}],
    "table_schema = 'information_schema'": [
        {"name": "ROCKSDB_CFSTATS"}, {"name": "ROCKSDB_PERF_CONTEXT_GLOBAL"}, {"name": "INNODB_METRICS"},
        {"name": "ROCKSDB_COMPACTION_STATS"}, {"name": "ROCKSDB_INDEX_FILE_MAP"},
    ],
    "SELECT DISTINCT engine": [{"engine": "ROCKSDB"}],
    "information_schema.rocksdb_compaction_stats": [
        {"family": "default", "level": "L0", "kind": "NumFiles", "value": 2.0},
        {"family": "default", "level": "L0", "kind": "WriteGB", "value": 0.5},
        {"family": "default", "level": "L0", "kind": "WriteMBps", "value": 90.0},
        {"family": "default", "level": "L0", "kind": "SizeBytes", "value": 700.0},
        {"family": "default", "level": "Sum", "kind": "SizeBytes", "value": 900.0},
        {"family": "default", "level": "Sum", "kind": "NumFiles", "value": 5.0},
        {"family": "__system__", "level": "Sum", "kind": "SizeBytes", "value": 8.0},
        {"family": "__system__", "level": "Sum", "kind": "NumFiles", "value": 1.0},
        {"family": "default", "level": "Sum", "kind": "CompMergeCPU", "value": 0.25},
        {"family": "__system__", "level": "Sum", "kind": "CompMergeCPU", "value": 0.5},
    ],
    "information_schema.rocksdb_index_file_map": [
        {"family_id": 0, "number": 256, "rows": 10001, "bytes": 1270067, "tombstones": 39999},
        {"family_id": 0, "number": 256, "rows": 1, "bytes": 33, "tombstones": 1},
        {"family_id": 0, "number": 257, "rows": 10001, "bytes": 170017, "tombstones": 0},
        {"family_id": 1, "number": 3, "rows": 2, "bytes": 28, "tombstones": 0},
    ],
    "information_schema.rocksdb_ddl": [
        {**INDEX, "name": "PRIMARY", "number": 256, "type": 1},
        {**INDEX, "name": "k", "number": 257, "type": 2},
        {**INDEX, "name": "l", "number": 258, "type": 2},
    ],
    "engine = 'ROCKSDB'": [{"schema": "stepgrid", "name": "t", "data_bytes": 412759, "index_bytes": 107128}],
    "information_schema.rocksdb_cfstats": [
        {"CF_NAME": "default", "STAT_TYPE": "MEM_TABLE_FLUSH_PENDING", "VALUE": 0},
        {"CF_NAME": "default", "STAT_TYPE": "CUR_SIZE_ALL_MEM_TABLES", "VALUE": 2048},
        {"CF_NAME": "__system__", "STAT_TYPE": "CUR_SIZE_ALL_MEM_TABLES", "VALUE": 1024},
    ],
    "information_schema.rocksdb_perf_context_global": [
        {"STAT_TYPE": "INTERNAL_DELETE_SKIPPED_COUNT", "VALUE": 36144100},
        {"STAT_TYPE": "BLOCK_READ_TIME", "VALUE": -1},
        {"STAT_TYPE": "IO_THREAD_POOL_ID", "VALUE": 12},
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
        "tables", "innodb-status", "rocksdb-status", "rocksdb-indexes", "rocksdb_cfstats", "rocksdb_compaction_stats",
        "innodb_metrics", "rocksdb_perf_context_global", "status",
    ]  # fmt: skip
    assert found["tables"].sizes == {"data_bytes": 700.0, "index_bytes": 300.0}
    assert found["tables"].garbage == {}
    assert found["rocksdb-status"].text == ("-- STATISTICS rocksdb\na COUNT : 1\n-- DBSTATS rocksdb\n** DB Stats **")
    assert found["rocksdb_cfstats"].gauges["rocksdb_cfstats.default.MEM_TABLE_FLUSH_PENDING"] == 0.0
    assert found["rocksdb_cfstats"].sizes == {"memtable_bytes": 3072.0}
    assert found["rocksdb_perf_context_global"] == ServerStatistics(
        {
            "rocksdb_perf_context_global.INTERNAL_DELETE_SKIPPED_COUNT": 36144100.0,
            "rocksdb_perf_context_global.BLOCK_READ_TIME": -1.0,
        },
        {"rocksdb_perf_context_global.IO_THREAD_POOL_ID": 12.0},
    )
    assert found["innodb_metrics"] == ServerStatistics(
        {"innodb_metrics.buffer_pages_read": 8.0}, {"innodb_metrics.trx_rseg_history_len": 5.0}
    )
    assert found["status"] == ServerStatistics(
        {"Questions": 70.0, "Innodb_buffer_pool_pages_flushed": 12.0},
        {"Threads_running": 1.0, "Innodb_buffer_pool_pages_dirty": 3.0},
    )


def test_compactions_of_myrocks_by_column_family_and_level() -> None:
    found = _told(ROCKSDB)["rocksdb_compaction_stats"]
    assert found.gauges["rocksdb_compaction_stats.default.L0.WriteMBps"] == 90.0
    assert found.levels == [
        {"family": "default", "level": "L0", "files": 2.0, "bytes": 700.0, "write_bytes": 2.0**29},
        {"family": "default", "level": "Sum", "files": 5.0, "bytes": 900.0, "cpu_seconds": 0.25},
        {"family": "__system__", "level": "Sum", "files": 1.0, "bytes": 8.0, "cpu_seconds": 0.5},
    ]
    assert found.sizes == {"lsm_bytes": 908.0, "lsm_files": 6.0, "l0_bytes": 700.0, "l0_files": 2.0}
    assert found.work == {"compaction_cpu_seconds": 0.75}


def test_what_the_servers_own_caches_hold() -> None:
    pool = {"page_size": "16384", "buffer_pool_pages_data": "3", "buffer_pool_pages_total": "8"}
    status = [*STATUS, *({"Variable_name": f"Innodb_{name}", "Value": value} for name, value in pool.items())]
    innodb = {**ROCKSDB, "show global status": status, "SELECT DISTINCT engine": [{"engine": "InnoDB"}]}
    assert _told(innodb)["status"].state == {"cached_bytes": 49152.0, "cache_bytes": 131072.0}
    assert _told({**ROCKSDB, "show global status": status})["status"].state == {}, "no table is InnoDB's"
    dbstats: dict[str, list[Any]] = {
        "table_schema = 'information_schema'": [{"name": "ROCKSDB_DBSTATS"}, {"name": "ROCKSDB_INDEX_FILE_MAP"}],
        "information_schema.rocksdb_dbstats": [{"STAT_TYPE": "DB_BLOCK_CACHE_USAGE", "VALUE": 87}],
        "rocksdb_block_cache_size": [{"Value": "8388608"}],
    }
    assert _told({**ROCKSDB, **dbstats})["rocksdb_dbstats"].state == {"cached_bytes": 87.0, "cache_bytes": 8388608.0}


def test_every_figure_is_a_metric() -> None:
    found = _told({**ROCKSDB, "show global status": [*STATUS, *VOLUMES]}).values()
    names = {name for each in found for kind in (each.sizes, each.garbage, each.work) for name in kind}
    assert (
        {"tombstones", "lsm_bytes", "memtable_bytes", "compaction_write_bytes", "data_bytes"} <= names <= set(METRICS)
    )


def test_tombstones_and_sizes_of_the_indexes_of_myrocks() -> None:
    found = _told(ROCKSDB)["rocksdb-indexes"]
    assert found.garbage == {"tombstones": 40000.0}
    assert found.objects == [
        ObjectSize("stepgrid", "t", "PRIMARY", "default", rows=10002.0, bytes=412759.0, tombstones=40000.0),
        ObjectSize("stepgrid", "t", "k", "default", rows=10001.0, bytes=107128.0, tombstones=0.0),
        ObjectSize("stepgrid", "t", "l", "default", rows=0.0, bytes=0.0, tombstones=0.0),
    ]


def test_a_myrocks_that_does_not_tell_its_tombstones() -> None:
    looked = looks(Connection({"SELECT DISTINCT engine": [{"engine": "ROCKSDB"}]}))
    (reader,) = (look for look in looked if look.name == "rocksdb-indexes")
    with pytest.raises(LookupError) as caught:
        reader.read()
    said = "the server has no information_schema.rocksdb_index_file_map: how many tombstones there are is not known"
    assert caught.value.args == (said,)


VOLUMES = [
    {"Variable_name": f"rocksdb_{name}", "Value": value}
    for name, value in {"bytes_written": "9", "flush_write_bytes": "5", "compact_write_bytes": "7"}.items()
]


def test_volumes_of_myrocks_are_metrics() -> None:
    work = {"ingest_bytes": 9.0, "flush_bytes": 5.0, "compaction_write_bytes": 12.0}
    assert _told({"show global status": VOLUMES})["status"].work == work


HISTORY = [{"name": "trx_rseg_history_len", "value": 5, "type": "value"}]


@pytest.mark.parametrize(
    ("engine", "garbage"), [("InnoDB", {"history_list_length": 5.0}), ("ROCKSDB", {}), ("MEMORY", {})]
)
def test_the_history_list_is_that_of_a_server_whose_tables_are_innodb(engine: str, garbage: dict[str, float]) -> None:
    told: dict[str, list[Any]] = {
        "table_schema = 'information_schema'": [{"name": "INNODB_METRICS"}],
        "information_schema.innodb_metrics": HISTORY,
        "SELECT DISTINCT engine": [{"engine": engine}],
    }
    (reader,) = (look for look in looks(Connection(told)) if look.name == "innodb_metrics")
    assert reader.read().garbage == garbage


INNODB = {"schema": "d", "engine": "InnoDB"}
PAGES = [
    {"schema": "d", "table": "t", "name": "PRIMARY", "pages": 97, "clustered": 97},
    {"schema": "d", "table": "t", "name": "k", "pages": 17, "clustered": 97},
    {"schema": "d", "table": "p#P#p0", "name": "PRIMARY", "pages": 2, "clustered": 2},
    {"schema": "d", "table": "p#P#p1", "name": "PRIMARY", "pages": 6, "clustered": 6},
    {"schema": "d", "table": "gone", "name": "PRIMARY", "pages": 6, "clustered": 6},
]


def test_sizes_of_tables_and_indexes_of_innodb() -> None:
    """Pages of 16 KiB, and of 8 where the table is compressed."""
    rows = [
        {**INNODB, "name": "t", "rows": 9, "data_bytes": 97 * 16384, "index_bytes": 17 * 16384, "free_bytes": 4194304},
        {**INNODB, "name": "p", "rows": 3, "data_bytes": 8 * 8192, "index_bytes": 0, "free_bytes": 0},
    ]
    used: dict[str, list[Any]] = {"SELECT DISTINCT engine": [{"engine": "InnoDB"}]}
    found = _told({**used, "AS data_bytes": rows, "mysql.innodb_index_stats": PAGES})
    assert found["tables"].garbage == {"bloat_bytes": 4194304.0}
    assert found["tables"].objects == [
        ObjectSize("d", "t", rows=9.0, bytes=1867776.0, bloat_bytes=4194304.0),
        ObjectSize("d", "p", rows=3.0, bytes=65536.0, bloat_bytes=0.0),
    ]
    assert found["innodb-indexes"].objects == [
        ObjectSize("d", "p", "PRIMARY", bytes=65536.0),
        ObjectSize("d", "t", "PRIMARY", bytes=1589248.0),
        ObjectSize("d", "t", "k", bytes=278528.0),
    ]


def test_who_may_not_read_the_sizes_of_indexes_is_told_why() -> None:
    class Refusing(Connection):
        def query(self, sql: str) -> list[Mapping[str, Any]]:
            if "innodb_index_stats" in sql:
                raise RuntimeError(1142, "SELECT command denied")
            return super().query(sql)

    looked = looks(Refusing({"SELECT DISTINCT engine": [{"engine": "InnoDB"}]}))
    (reader,) = (look for look in looked if look.name == "innodb-indexes")
    with pytest.raises(
        LookupError, match=r"^the server does not tell how large its indexes are: SELECT command denied$"
    ):
        reader.read()


def test_what_a_server_lacks_is_not_asked() -> None:
    found = _told({"show global status": STATUS})
    assert [*found] == ["tables", "status"]
    assert found["tables"] == ServerStatistics(sizes={"data_bytes": 0.0, "index_bytes": 0.0}, objects=[])


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
    rows = [{**INNODB, "name": "sbtest1", "rows": 9, "data_bytes": 32768, "index_bytes": 0, "free_bytes": 8388608}]
    found = looks(Connection({**files, "AS data_bytes": rows}))[0].read()
    assert (found.sizes, found.text.count("sbtest1")) == ({}, 1)
    rows = [
        {**INNODB, "name": "sbtest1", "rows": 9, "data_bytes": 15745024, "index_bytes": 2686976, "free_bytes": 8388608}
    ]
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
