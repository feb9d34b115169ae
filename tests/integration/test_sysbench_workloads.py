"""What each workload does, by the server's own word: its statements, their plans, the rows that they read."""

import re
import shutil
import tempfile
from pathlib import Path

import pytest

from stepgrid_databases.drivers.sysbench import SysbenchDriver
from stepgrid_databases.drivers.sysbench.parser import parse
from stepgrid_databases.drivers.sysbench.settings import CLASSIC, WORKLOADS
from tests.integration.sysbench import ROWS, TABLES, bench, without_password

EVENTS = 4
POINT = "SELECT c FROM t WHERE id = ?"
SIMPLE = "SELECT c FROM t WHERE id BETWEEN ? AND ?"
SUM = "SELECT SUM(k) FROM t WHERE id BETWEEN ? AND ?"
ORDER = "SELECT c FROM t WHERE id BETWEEN ? AND ? ORDER BY c"
DISTINCT = "SELECT DISTINCT c FROM t WHERE id BETWEEN ? AND ? ORDER BY c"
RANGES = (SIMPLE, SUM, ORDER, DISTINCT)
INDEX = "UPDATE t SET k = k + ? WHERE id = ?"
NONINDEX = "UPDATE t SET c = ? WHERE id = ?"
DELETE = "DELETE FROM t WHERE id = ?"
WRITES = (INDEX, NONINDEX, DELETE, "INSERT INTO t (id, k, c, pad) VALUES (?, ?, ?, ?)")


def _transaction(*statements):
    return ("BEGIN", *statements, "COMMIT")


POINTS = (POINT,) * 10
SCAN = "SELECT * FROM t WHERE LENGTH(c) < ?"
# workload, what it is told, the statements of one event
READS = [
    ("point_query", {}, (POINT,)),
    ("point_query", {"distribution": "zipfian"}, (POINT,)),
    ("scan", {}, (SCAN,)),
    ("random_points", {"range": 10}, ("SELECT c FROM t WHERE id IN (10)",)),
    ("random_points", {}, ("SELECT c FROM t WHERE id IN (100)",)),
    ("hot_points", {}, ("SELECT c FROM t WHERE id IN (100)",)),
    ("points", {}, ("SELECT id FROM t WHERE id IN (100)",)),
    ("points", {"covered": False}, ("SELECT id, c FROM t WHERE id IN (100)",)),
    ("points", {"index": "si"}, ("SELECT k FROM t WHERE k IN (100)",)),
    ("points", {"index": "si", "covered": False}, ("SELECT k, c FROM t WHERE k IN (100)",)),
    ("range", {}, ("SELECT id FROM t WHERE id BETWEEN ? AND ?",)),
    ("range", {"covered": False}, ("SELECT id, c FROM t WHERE id BETWEEN ? AND ?",)),
    ("range", {"index": "si"}, ("SELECT k FROM t WHERE k BETWEEN ? AND ?",)),
    ("range", {"index": "si", "covered": False}, ("SELECT k, c FROM t WHERE k BETWEEN ? AND ?",)),
    ("read_only", {"range": 10}, _transaction(*POINTS, *RANGES)),
    ("read_only_simple", {"range": 50}, _transaction(*POINTS, SIMPLE)),
    ("read_only_sum", {}, _transaction(*POINTS, SUM)),
    ("read_only_order", {}, _transaction(*POINTS, ORDER)),
    ("read_only_distinct", {}, _transaction(*POINTS, DISTINCT)),
    ("read_only_count", {}, ("SELECT COUNT(c) FROM t WHERE id BETWEEN ? AND ?",)),
]
CHANGES = [
    ("update_inlist", {}, ("UPDATE t SET c = ? WHERE id IN (10)",)),
    ("update_index", {}, (INDEX,)),
    ("update_nonindex", {}, (NONINDEX,)),
    ("update_nonindex", {"rows": 1}, (NONINDEX,)),
    ("write_only", {}, _transaction(*WRITES)),
    ("read_write", {"range": 10}, _transaction(*POINTS, *RANGES, *WRITES)),
    ("delete", {}, (DELETE,)),
    ("insert", {}, ("INSERT INTO t (k, c, pad) VALUES (?, ?, ?)",)),
]


@pytest.fixture(
    scope="module",
    params=["mariadb-innodb", pytest.param("mariadb-rocksdb", marks=pytest.mark.nightly), "postgres-heap"],
)
def loaded(server_builds, request):
    folder = Path(tempfile.mkdtemp(prefix="sysbench-"))  # where everyone may go
    folder.chmod(0o755)
    engine, storage = request.param.split("-")
    try:
        with bench(server_builds, engine, storage, folder) as found:
            found.run("load", threads=2)
            for number in range(1, TABLES + 1):
                analyze = "VACUUM (ANALYZE)" if found.postgres else "ANALYZE TABLE"
                found.connection.query(f"{analyze} sbtest{number}")
            yield found
    finally:
        shutil.rmtree(folder)


def _shape(sql):
    """Without what is random in it."""
    text = re.sub(r"'[^']*'|(?<![\w])\d+", "?", re.sub(r"sbtest\d+", "t", sql))
    return re.sub(r"IN \(([?, ]+)\)", lambda found: f"IN ({found[1].count('?')})", text)


def _rows(loaded, sql):
    """That a statement is about."""
    table, where = re.search(r"sbtest\d+", sql), re.search(r"WHERE (.*?)(?: ORDER BY .*)?$", sql)
    assert table is not None
    if "LENGTH" in sql:
        return ROWS
    return loaded.number(f"SELECT COUNT(*) FROM {table[0]} WHERE {where[1]}") if where else 0


def _check_plan(loaded, sql):
    shape, plan = _shape(sql), loaded.plan(sql)
    assert plan.index is None or "LENGTH" not in shape
    if "LENGTH" not in shape:
        number = re.search(r"sbtest(\d+)", sql)
        primary = f"sbtest{number[1]}_pkey" if loaded.postgres else "PRIMARY"
        assert plan.index == (f"k_{number[1]}" if "WHERE k" in shape else primary), sql
        alone = re.match(r"SELECT (\w+) FROM t WHERE \1 ", shape) is not None
        assert plan.covered == alone or plan.index == "PRIMARY", sql  # which is the table


def test_every_workload_is_here():
    assert {lua for lua, _, _ in READS + CHANGES} == set(WORKLOADS) - {"load"}


@pytest.mark.parametrize(("lua", "given", "statements"), READS)
def test_what_reads(loaded, lua, given, statements):
    before, read = loaded.checksum(), loaded.rows_read()
    seen = loaded.watched(lua, events=EVENTS, **given)
    read = loaded.rows_read() - read
    assert [_shape(sql) for sql in seen] == [*statements] * EVENTS
    asked = [sql for sql in seen if sql.startswith("SELECT")]
    expected = sum(_rows(loaded, sql) for sql in asked)
    index_only = loaded.postgres and all(loaded.plan(sql).covered for sql in asked)  # no row of the table is fetched
    sorted_rows = expected if any("ORDER BY" in sql for sql in asked) else 0  # may be fetched a second time
    assert (0 if index_only else expected) <= read <= expected + sorted_rows + 2 * len(asked)
    for sql in {_shape(sql): sql for sql in asked}.values():
        _check_plan(loaded, sql)
    assert loaded.checksum() == before


@pytest.mark.parametrize(("lua", "given", "statements"), CHANGES)
def test_what_writes(loaded, lua, given, statements):
    before, there = loaded.checksum(), _count(loaded)
    seen = loaded.watched(lua, events=EVENTS, **given)
    assert [_shape(sql) for sql in seen] == [*statements] * EVENTS
    assert _count(loaded) - there == {"insert": EVENTS, "delete": -EVENTS}.get(lua, 0)
    assert loaded.checksum() != before
    for sql in {_shape(sql): sql for sql in seen if "WHERE" in sql}.values():
        if "BETWEEN" not in sql:
            assert loaded.plan(sql).index is not None


@pytest.mark.parametrize("lua", CLASSIC)
def test_a_classic_by_its_name(loaded, lua):
    expected = next(statements for name, _, statements in READS + CHANGES if name == CLASSIC[lua])
    assert [_shape(sql) for sql in loaded.watched(lua, events=EVENTS)] == [*expected] * EVENTS


def _count(loaded):
    return sum(loaded.number(f"SELECT COUNT(*) FROM sbtest{number}") for number in range(1, TABLES + 1))


def test_a_file_of_ones_own(loaded):
    (loaded.folder / "mine.lua").write_text(
        'sysbench.cmdline.options = {times = {"how often", 1}}\n'
        "function thread_init() con = sysbench.sql.driver():connect() end\n"
        "function event()\n"
        "   for _ = 1, sysbench.opt.times do con:query('SELECT c FROM sbtest' .. sysbench.opt.tables) end\n"
        "end\n"
    )
    folder = loaded.run("mine.lua", events=2, arguments={"times": 3})
    metrics = parse(folder, {"lua": "mine.lua", "rows": ROWS}).metrics
    assert (metrics["read_queries"], metrics["transactions"]) == (6, 2)
    assert not (folder / "connection").exists()


def test_no_password_is_left(loaded):
    folder = loaded.run("point_query", events=1)
    assert not (folder / "connection").exists()
    assert not [path for path in folder.iterdir() if loaded.access.password in path.read_text()]


def test_who_is_not_let_in_is_told_so(loaded, tmp_path):
    assert without_password(loaded).start(tmp_path, "point_query", events=1).returncode == 1
    said = SysbenchDriver().complaint(tmp_path)
    assert said is not None
    assert "authentication failed" in said if loaded.postgres else "Access denied" in said


def test_what_a_load_makes(loaded):
    """Of another number of threads the same rows; with another key."""
    query = loaded.connection.query
    for number in range(1, TABLES + 1):
        query(f"DROP TABLE sbtest{number}")
    folder = loaded.run("load", seed=5, threads=1, rows=2500)
    one = loaded.checksum()
    for number in range(1, TABLES + 1):
        query(f"DROP TABLE sbtest{number}")
    loaded.run("load", seed=5, threads=2, rows=2500, primary_key=False)
    assert loaded.checksum() == one
    assert parse(folder, {"lua": "load", "rows": 2500}).metrics["operations"] == 5000
    shape = "min(id) = 1 AND max(id) = 2500 AND count(*) = 2500 AND min(k) >= 1 AND max(k) <= 2500"
    texts = "min(length(c)) = 119 AND max(length(c)) = 119 AND min(length(pad)) = 59 AND max(length(pad)) = 59"
    (row,) = query(f"SELECT {shape} AS shape, {texts} AS texts FROM sbtest2")
    assert (bool(row["shape"]), bool(row["texts"])) == (True, True)
    assert _indexes(loaded) == ["id_2", "k_2"]


def _indexes(loaded):
    if loaded.postgres:
        rows = loaded.connection.query("SELECT indexname AS name FROM pg_indexes WHERE tablename = 'sbtest2'")
    else:
        sql = "SELECT index_name AS name FROM information_schema.statistics WHERE table_name = 'sbtest2'"
        rows = loaded.connection.query(sql)
    return sorted(str(row["name"]) for row in rows)
