"""Rows as the servers gave them: MariaDB 11.8 with MyRocks, MySQL 5.7 and 8.0."""

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


def test_a_myrocks_that_does_not_tell_its_tombstones():
    looked = looks(Told({"SELECT DISTINCT engine": [{"engine": "ROCKSDB"}]}))
    (reader,) = (look for look in looked if look.name == "rocksdb-indexes")
    with pytest.raises(LookupError) as caught:
        reader.read()
    said = "the server has no information_schema.rocksdb_index_file_map: how many tombstones there are is not known"
    assert caught.value.args == (said,)


INNODB = {"schema": "d", "engine": "InnoDB"}


def test_who_may_not_read_the_sizes_of_indexes_is_told_why():
    class Refusing(Told):
        def query(self, sql):
            if "innodb_index_stats" in sql:
                raise RuntimeError(1142, "SELECT command denied")
            return super().query(sql)

    looked = looks(Refusing({"SELECT DISTINCT engine": [{"engine": "InnoDB"}]}))
    (reader,) = (look for look in looked if look.name == "innodb-indexes")
    with pytest.raises(
        LookupError, match=r"^the server does not tell how large its indexes are: SELECT command denied$"
    ):
        reader.read()


def test_mysql_8_is_asked_for_sizes_of_now():
    connection = Told({"SHOW VARIABLES LIKE 'information_schema_stats_expiry'": [{"Value": "86400"}]})
    looks(connection)[0].read()
    assert "SET SESSION information_schema_stats_expiry = 0" in connection.asked


def test_sizes_that_innodb_has_not_looked_at_yet_are_missing():
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


def named(**values):
    return [{"Variable_name": name, "Value": str(value)} for name, value in values.items()]


def metrics(**values):
    return [{"name": name, "value": value} for name, value in values.items()]


def pages(dirty, total):
    return named(Innodb_buffer_pool_pages_dirty=dirty, Innodb_buffer_pool_pages_total=total)


FREQUENCY = named(innodb_purge_rseg_truncate_frequency=128)
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


def shown(connection, access=WITH_INNODB):
    return [(s.what, s.value, int(s.least), s.idle) for s in SERVER.busy(connection, access)]


def test_a_user_who_may_not_look_is_told_what_is_lacking():
    class Refusing(Told):
        def query(self, sql):
            raise RuntimeError(*self.answers["error"][0]["args"])

    said = "the user `stepgrid` needs PROCESS to see what the server has left to do (`GRANT PROCESS ON *.*`)"
    with pytest.raises(PermissionError, match=re.escape(said)):
        shown(Refusing({"error": [{"args": (1227, "Access denied; you need … PROCESS")}]}))
    with pytest.raises(RuntimeError, match="gone"):
        shown(Refusing({"error": [{"args": (2006, "gone")}]}))


def test_what_is_set_is_put_back():
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


def test_of_a_server_that_ran_before_nothing_is_set():
    for access in (WITH_INNODB, WITH_MYROCKS):
        connection = Told(MYSQL)
        with SERVER.settle(connection, access._replace(running=True)):
            pass
        assert connection.asked == []


def test_it_is_put_back_when_the_step_is_stopped():
    connection = Told({"SHOW GLOBAL VARIABLES": named(innodb_max_dirty_pages_pct="75.000000")})
    with pytest.raises(KeyboardInterrupt), SERVER.settle(connection, WITH_INNODB):
        raise KeyboardInterrupt
    assert connection.asked[1:] == [
        "SET GLOBAL innodb_max_dirty_pages_pct = 0",
        "SET GLOBAL innodb_max_dirty_pages_pct = 75.000000",
    ]


@pytest.mark.parametrize("compact", ["rocksdb_compact_lzero_now", "rocksdb_force_flush_memtable_and_lzero_now"])
def test_myrocks_is_flushed_and_its_level_0_compacted(compact):
    """By Facebook's name or MariaDB's."""
    connection = Told({"SHOW GLOBAL VARIABLES": named(**{compact: "OFF", "rocksdb_force_flush_memtable_now": "OFF"})})
    with SERVER.settle(connection, WITH_MYROCKS):
        pass
    assert connection.asked[1:] == ["SET GLOBAL rocksdb_force_flush_memtable_now = 1", f"SET GLOBAL {compact} = 1"]


def test_all_tables_are_analyzed(monkeypatch):
    others = Told({})
    monkeypatch.setattr(server, "connect", lambda access: others)
    SERVER.analyze(Told({"information_schema.tables": [{"name": "`b`.`t`"}, {"name": "`b`.`a b`"}]}), WITH_INNODB)
    assert sorted(others.asked) == [
        "ANALYZE NO_WRITE_TO_BINLOG TABLE `b`.`a b`",
        "ANALYZE NO_WRITE_TO_BINLOG TABLE `b`.`t`",
    ]


def test_states_in_which_innodb_holds_clients_up():
    pages = [("Innodb_buffer_pool_pages_dirty", 90), ("Innodb_buffer_pool_pages_total", 100)]
    limit = {"SHOW GLOBAL VARIABLES": [{"Variable_name": "innodb_max_dirty_pages_pct", "Value": "90"}]}

    def states(*values):
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
