"""Rows as the servers gave them: MariaDB 11.8.6, MySQL 5.7.22 and 8.0.31."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepgrid.engines.mysqld import quiesce
from stepgrid.plugins.server import Access
from tests.engines.told import Told

INNODB = Access("mariadb", Path("/s"), Path("/s/my.sock"), 3306, "stepgrid", "secret", "bench", "innodb")
MYROCKS = INNODB._replace(storage_engine="rocksdb")
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


def shown(connection: Told, access: Access = INNODB) -> list[tuple[str, float, int, bool]]:
    return [(s.what, s.value, int(s.least), s.idle) for s in quiesce.busy(connection, access)]


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
    with quiesce.settle(connection, INNODB):
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
    for access in (INNODB, MYROCKS):
        connection = Told(MYSQL)
        with quiesce.settle(connection, access._replace(running=True)):
            pass
        assert connection.asked == []


def test_it_is_put_back_when_the_step_is_stopped() -> None:
    connection = Told({"SHOW GLOBAL VARIABLES": named(innodb_max_dirty_pages_pct="75.000000")})
    with pytest.raises(KeyboardInterrupt), quiesce.settle(connection, INNODB):
        raise KeyboardInterrupt
    assert connection.asked[1:] == [
        "SET GLOBAL innodb_max_dirty_pages_pct = 0",
        "SET GLOBAL innodb_max_dirty_pages_pct = 75.000000",
    ]


@pytest.mark.parametrize("compact", ["rocksdb_compact_lzero_now", "rocksdb_force_flush_memtable_and_lzero_now"])
def test_myrocks_is_flushed_and_its_level_0_compacted(compact: str) -> None:
    """By Facebook's name or MariaDB's."""
    connection = Told({"SHOW GLOBAL VARIABLES": named(**{compact: "OFF", "rocksdb_force_flush_memtable_now": "OFF"})})
    with quiesce.settle(connection, MYROCKS):
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
    assert shown(connection, MYROCKS) == [
        ("memtables", 4198464, 2**28, True),
        ("memtables to flush", 1, 0, False),
        ("flushes", 1, 0, False),
        ("pending compactions", 2, 0, False),
        ("compactions", 2, 0, False),
    ]
    idle = {"rocksdb_cfstats": metrics(CUR_SIZE_ALL_MEM_TABLES=4096), "rocksdb_cf_options": most}
    quiet = Told({**idle, "SHOW ENGINE ROCKSDB STATUS": [thread("")]})
    assert all(seen.idle for seen in quiesce.busy(quiet, MYROCKS))


def test_all_tables_are_analyzed(monkeypatch: pytest.MonkeyPatch) -> None:
    others = Told({})
    monkeypatch.setattr(quiesce, "connect", lambda access: others)
    quiesce.analyze(Told({"information_schema.tables": [{"name": "`b`.`t`"}, {"name": "`b`.`a b`"}]}), INNODB)
    assert sorted(others.asked) == [
        "ANALYZE NO_WRITE_TO_BINLOG TABLE `b`.`a b`",
        "ANALYZE NO_WRITE_TO_BINLOG TABLE `b`.`t`",
    ]
