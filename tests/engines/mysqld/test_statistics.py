"""Rows as the servers gave them: MariaDB 11.8 with MyRocks, MySQL 5.7 and 8.0."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepgrid.plugins.server import Access
from stepgrid_databases.engines.mysql import MySQL
from stepgrid_databases.engines.mysqld import innodb, server
from stepgrid_databases.engines.mysqld.statistics import looks
from tests.engines.told import Told

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


def test_a_myrocks_that_does_not_tell_its_tombstones() -> None:
    looked = looks(Told({"SELECT DISTINCT engine": [{"engine": "ROCKSDB"}]}))
    (reader,) = (look for look in looked if look.name == "rocksdb-indexes")
    with pytest.raises(LookupError) as caught:
        reader.read()
    said = "the server has no information_schema.rocksdb_index_file_map: how many tombstones there are is not known"
    assert caught.value.args == (said,)


INNODB = {"schema": "d", "engine": "InnoDB"}


def test_who_may_not_read_the_sizes_of_indexes_is_told_why() -> None:
    class Refusing(Told):
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


def test_mysql_8_is_asked_for_sizes_of_now() -> None:
    connection = Told({"SHOW VARIABLES LIKE 'information_schema_stats_expiry'": [{"Value": "86400"}]})
    looks(connection)[0].read()
    assert "SET SESSION information_schema_stats_expiry = 0" in connection.asked


def test_sizes_that_innodb_has_not_looked_at_yet_are_missing() -> None:
    """A load of 40,000 rows of MySQL 8.0.31, right after it; then a while later."""
    files = {"'innodb_sys_tablespaces')": [{"name": "INNODB_TABLESPACES"}], "sum(file_size)": [{"bytes": 37748736}]}
    rows = [{**INNODB, "name": "sbtest1", "rows": 9, "data_bytes": 32768, "index_bytes": 0, "free_bytes": 8388608}]
    found = looks(Told({**files, "AS data_bytes": rows}))[0].read()
    assert (found.sizes, found.text.count("sbtest1")) == ({}, 1)
    rows = [
        {**INNODB, "name": "sbtest1", "rows": 9, "data_bytes": 15745024, "index_bytes": 2686976, "free_bytes": 8388608}
    ]
    assert looks(Told({**files, "AS data_bytes": rows}))[0].read().sizes == {
        "data_bytes": 15745024.0,
        "index_bytes": 2686976.0,
    }


SERVER = MySQL()
WITH_INNODB = Access("mariadb", Path("/s"), Path("/s/my.sock"), 3306, "stepgrid", "secret", "bench", "innodb")
WITH_MYROCKS = WITH_INNODB._replace(storage_engine="rocksdb")
Rows = list[Mapping[str, Any]]


def named(**values: object) -> Rows:
    return [{"Variable_name": name, "Value": str(value)} for name, value in values.items()]


def metrics(**values: int) -> Rows:
    return [{"name": name, "value": value} for name, value in values.items()]


def pages(dirty: int, total: int) -> Rows:
    return named(Innodb_buffer_pool_pages_dirty=dirty, Innodb_buffer_pool_pages_total=total)


LIMITS = named(innodb_max_dirty_pages_pct="90.000000", innodb_max_dirty_pages_pct_lwm="0.000000")
FREQUENCY = named(innodb_purge_rseg_truncate_frequency=128)
MARIADB = {
    "SHOW GLOBAL VARIABLES": [*LIMITS, *FREQUENCY],
    "innodb_metrics": metrics(trx_rseg_history_len=538),
    "Innodb_history_list_length": named(Innodb_history_list_length=538),
    "Innodb_buffer_pool_pages": pages(3783, 16224),
}
MYSQL = {
    "SHOW GLOBAL VARIABLES": [
        *named(
            innodb_idle_flush_pct=1, innodb_max_dirty_pages_pct="90.000000", innodb_max_dirty_pages_pct_lwm="10.000000"
        ),
        *FREQUENCY,
    ],
    "innodb_metrics": metrics(trx_rseg_history_len=1072, ibuf_size=4),
    "Innodb_buffer_pool_pages": pages(1884, 16384),
}
SETTLED = named(innodb_max_dirty_pages_pct="0.000000", innodb_max_dirty_pages_pct_lwm="0.000000")


def shown(connection: Told, access: Access = WITH_INNODB) -> list[tuple[str, float, int, bool]]:
    return [(s.what, s.value, int(s.least), s.idle) for s in SERVER.busy(connection, access)]


def test_dirty_pages_are_many_when_the_server_aims_at_fewer() -> None:
    assert shown(Told(MARIADB)) == [("dirty pages", 3783, 14601, True), ("history list", 538, 1000, True)]
    settled = {**MARIADB, "SHOW GLOBAL VARIABLES": SETTLED}
    assert shown(Told(settled))[0] == ("dirty pages", 3783, 162, False)
    done = {**settled, "Innodb_buffer_pool_pages": pages(55, 16224)}
    assert shown(Told(done))[0] == ("dirty pages", 55, 162, True)


def test_what_mysql_has_besides() -> None:
    assert shown(Told(MYSQL)) == [
        ("dirty pages", 1884, 1638, False),
        ("history list", 1072, 1000, False),
        ("change buffer", 4, 1, False),
    ]


def test_a_user_who_may_not_look_is_told_what_is_lacking() -> None:
    class Refusing(Told):
        def query(self, sql: str) -> list[Mapping[str, Any]]:
            raise RuntimeError(*self.answers["error"][0]["args"])

    said = "the user `stepgrid` needs PROCESS to see what the server has left to do (`GRANT PROCESS ON *.*`)"
    with pytest.raises(PermissionError, match=re.escape(said)):
        shown(Refusing({"error": [{"args": (1227, "Access denied; you need … PROCESS")}]}))
    with pytest.raises(RuntimeError, match="gone"):
        shown(Refusing({"error": [{"args": (2006, "gone")}]}))


def test_what_is_set_is_put_back() -> None:
    connection = Told(MYSQL)
    with SERVER.settle(connection, WITH_INNODB):
        assert connection.asked[1:] == [
            "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0",
            "SET GLOBAL innodb_max_dirty_pages_pct = 0",
            "SET GLOBAL innodb_idle_flush_pct = 100",
            "SET GLOBAL innodb_purge_rseg_truncate_frequency = 1",
        ]
    assert connection.asked[5:] == [
        "SET GLOBAL innodb_purge_rseg_truncate_frequency = 128",
        "SET GLOBAL innodb_idle_flush_pct = 1",
        "SET GLOBAL innodb_max_dirty_pages_pct = 90.000000",
        "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 10.000000",
    ]


def test_of_a_server_that_ran_before_nothing_is_set() -> None:
    for access in (WITH_INNODB, WITH_MYROCKS):
        connection = Told(MYSQL)
        with SERVER.settle(connection, access._replace(running=True)):
            pass
        assert connection.asked == []


def test_it_is_put_back_when_the_step_is_stopped() -> None:
    connection = Told({"SHOW GLOBAL VARIABLES": named(innodb_max_dirty_pages_pct="75.000000")})
    with pytest.raises(KeyboardInterrupt), SERVER.settle(connection, WITH_INNODB):
        raise KeyboardInterrupt
    assert connection.asked[1:] == [
        "SET GLOBAL innodb_max_dirty_pages_pct = 0",
        "SET GLOBAL innodb_max_dirty_pages_pct = 75.000000",
    ]


@pytest.mark.parametrize("compact", ["rocksdb_compact_lzero_now", "rocksdb_force_flush_memtable_and_lzero_now"])
def test_myrocks_is_flushed_and_its_level_0_compacted(compact: str) -> None:
    """By Facebook's name or MariaDB's."""
    connection = Told({"SHOW GLOBAL VARIABLES": named(**{compact: "OFF", "rocksdb_force_flush_memtable_now": "OFF"})})
    with SERVER.settle(connection, WITH_MYROCKS):
        pass
    assert connection.asked[1:] == ["SET GLOBAL rocksdb_force_flush_memtable_now = 1", f"SET GLOBAL {compact} = 1"]


def thread(operation: str) -> Mapping[str, Any]:
    status = f"\nthread_type: Low Pri\ncf_name: default\noperation_type: {operation}\noperation_stage: \n"
    return {"Type": "BG_THREADS", "Name": "13237", "Status": status}


def test_what_myrocks_does() -> None:
    families = metrics(CUR_SIZE_ALL_MEM_TABLES=4198464, NUM_IMMUTABLE_MEM_TABLE=1, COMPACTION_PENDING=2)
    most: Rows = [{"most": 2 * 2**27}]
    status = [thread("Flush"), thread("Compaction"), thread("Compaction"), thread("")]
    other = {"Type": "STATISTICS", "Name": "rocksdb", "Status": "operation_type: Compaction"}
    named = {"rocksdb_cfstats": families, "rocksdb_cf_options": most}
    connection = Told({**named, "SHOW ENGINE ROCKSDB STATUS": [*status, other]})
    assert shown(connection, WITH_MYROCKS) == [
        ("memtables", 4198464, 2**28, True),
        ("memtables to flush", 1, 0, False),
        ("flushes", 1, 0, False),
        ("pending compactions", 2, 0, False),
        ("compactions", 2, 0, False),
    ]
    idle = {"rocksdb_cfstats": metrics(CUR_SIZE_ALL_MEM_TABLES=4096), "rocksdb_cf_options": most}
    quiet = Told({**idle, "SHOW ENGINE ROCKSDB STATUS": [thread("")]})
    assert all(seen.idle for seen in SERVER.busy(quiet, WITH_MYROCKS))


def test_all_tables_are_analyzed(monkeypatch: pytest.MonkeyPatch) -> None:
    others = Told({})
    monkeypatch.setattr(server, "connect", lambda access: others)
    SERVER.analyze(Told({"information_schema.tables": [{"name": "`b`.`t`"}, {"name": "`b`.`a b`"}]}), WITH_INNODB)
    assert sorted(others.asked) == [
        "ANALYZE NO_WRITE_TO_BINLOG TABLE `b`.`a b`",
        "ANALYZE NO_WRITE_TO_BINLOG TABLE `b`.`t`",
    ]


def test_states_in_which_innodb_holds_clients_up() -> None:
    pages = [("Innodb_buffer_pool_pages_dirty", 90), ("Innodb_buffer_pool_pages_total", 100)]
    limit = {"SHOW GLOBAL VARIABLES": [{"Variable_name": "innodb_max_dirty_pages_pct", "Value": "90"}]}

    def states(*values: tuple[str, int]) -> list[Any]:
        rows = [{"Variable_name": name, "Value": str(value)} for name, value in (*pages, *values)]
        metrics = [{"name": "trx_rseg_history_len", "value": 7}]
        told = {"SHOW GLOBAL STATUS": rows, "innodb_metrics": metrics, **limit}
        return [reading[:3] for reading in innodb.pressures(Told(told))]

    rest = [("flush pressure", 90.0, 90.0), ("purge pressure", 7.0, 100_000.0)]
    maria = states(("Innodb_checkpoint_age", 76), ("Innodb_checkpoint_max_age", 100))
    assert maria == [("redo pressure", 76.0, 75.0), *rest]
    mysql = states(
        ("Innodb_redo_log_current_lsn", 190),
        ("Innodb_redo_log_checkpoint_lsn", 100),
        ("Innodb_redo_log_capacity_resized", 100),
    )
    assert mysql == [("redo pressure", 90.0, pytest.approx(63.75)), *rest]
    assert states() == rest, "an older MySQL does not tell its log's"
