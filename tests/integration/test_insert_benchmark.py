"""The insert benchmark on real servers: every row is there, rates are kept, and what fails says so."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.client_steps import Step, server_folder
from tests.integration.insert_benchmark import ALL, checked, run, start
from tests.integration.sysbench import Bench, bench
from tests.waiting import until

KINDS = ["mariadb-innodb", "mariadb-rocksdb", "mysql-innodb", "postgres-heap"]
QUERIES: dict[str, Any] = {"rows_per_commit": 50, "insert_rate": 500, "duration": 1.0}
FIRST_3000 = 454537042  # the checksum of the first rows of the first client, by seed 7
ONE = pytest.mark.parametrize("server", ["mariadb-innodb"], indirect=True)
AT_NIGHT = [pytest.param(kind, marks=pytest.mark.nightly) for kind in KINDS[1:]]
ONE_BY_DAY = pytest.mark.parametrize("server", [KINDS[0], *AT_NIGHT], indirect=True)
MARKET, REGISTER, PDC = (
    "pi1_marketsegment{} (productid,customerid,price)",
    "pi1_registersegment{} (cashregisterid,customerid,price)",
    "pi1_pdc{} (price,dateandtime,customerid)",
)
ONE_BY_ONE = [f"CREATE INDEX {index.format(' ON pi1')}" for index in (MARKET, REGISTER, PDC)]
ONE_PASS = "ALTER TABLE pi1 " + ", ".join(f"ADD INDEX {index.format('')}" for index in (MARKET, REGISTER, PDC))
INDEXES = {"innodb": [ONE_PASS], "rocksdb": ONE_BY_ONE, "postgres": ONE_BY_ONE}
COLUMNS = "(dateandtime,cashregisterid,customerid,productid,price,data)"
ROW = "('T',N,N,N,N,'T')"


@pytest.fixture(scope="module", params=KINDS)
def server(server_builds: Path, request: pytest.FixtureRequest) -> Iterator[Bench]:
    engine, storage = request.param.split("-")
    with server_folder() as folder, bench(server_builds, engine, storage, folder) as found:
        yield found


@pytest.mark.parametrize("clients", [3, *(pytest.param(number, marks=pytest.mark.nightly) for number in (1, 2, 4))])
def test_every_row_is_there(server: Bench, clients: int) -> None:
    run(server, "load", rows=3000, clients=clients, anew=True)
    loaded = checked(server)
    assert [(line["rows"], line["checked"]) for line in loaded] == [(3000, ALL)] * clients
    assert loaded[0]["checksum"] == FIRST_3000
    run(server, "index", clients=clients)
    run(server, "insert", rows=1010, rows_per_commit=50, clients=clients, deletes=True)
    run(server, "query", clients=clients, deletes=True, **QUERIES)
    lines = checked(server)
    assert [(line["rows"], line["checked"]) for line in lines] == [(3100, ALL)] * clients
    for line in lines:
        assert server.number(f"SELECT count(*) FROM pi{line['table']}") == 3100
        assert server.number(f"SELECT min(transactionid) FROM pi{line['table']}") == line["min"] > 1500
    assert len({line["checksum"] for line in (*loaded, *lines)}) == 2 * clients


def test_clients_that_share_a_table(server: Bench) -> None:
    data: dict[str, Any] = {"data_length_min": 100, "data_length_max": 150}
    run(server, "load", rows=2000, clients=3, tables=2, partitions=3, anew=True, **data)
    lengths = server.connection.query("SELECT min(length(data)) AS least, max(length(data)) AS most FROM pi1")
    assert [dict(row) for row in lengths] == [{"least": 100, "most": 150}]
    assert [(line["rows"], line["checked"]) for line in checked(server)] == [
        (4000, "count, checksum: several clients inserted into it"),
        (2000, ALL),
    ]
    run(server, "insert", rows=500, rows_per_commit=10, clients=3, tables=2, deletes=True)
    assert [(line["rows"], line["checked"]) for line in checked(server)] == [
        (4000, "count: several clients deleted from it"),
        (2000, ALL),
    ]


def test_a_row_that_is_missing_or_another(server: Bench) -> None:
    run(server, "load", rows=500, anew=True)
    server.connection.query("UPDATE pi1 SET price = price + 1 WHERE transactionid = 250")
    step = start(server, "check")
    assert step.ended() == 1
    assert re.fullmatch(
        r"the insert benchmark failed: pi1: the checksum of its 500 rows is \d+: it should be \d+", step.complaint or ""
    )
    server.connection.query("DELETE FROM pi1 WHERE transactionid = 250")
    step = start(server, "check")
    assert step.ended() == 1
    assert step.complaint == "the insert benchmark failed: pi1 has 499 rows: 500 were inserted and not deleted"


def test_what_is_no_reason_to_try_again_ends_the_step(server: Bench) -> None:
    run(server, "load", rows=1, clients=2, anew=True)
    server.connection.query("CREATE UNIQUE INDEX one_of_each ON pi1 (cashregisterid)")
    step = start(server, "insert", rows=1_000_000, clients=2, deletes=True)
    assert step.ended() == 1
    said = (
        r'error 0 \(23505\): duplicate key value violates unique constraint "one_of_each"'
        if server.postgres
        else r"error 1062 \(23000\): Duplicate entry '\d+' for key '(pi1\.)?one_of_each'"
    )
    begins = re.escape(f"INSERT INTO pi1 {COLUMNS} VALUES"[:80])
    assert re.fullmatch(f"the insert benchmark failed: {said}: {begins}", step.complaint or ""), step.complaint


LOCKS = {
    "innodb": "SET GLOBAL innodb_lock_wait_timeout = 1",
    "rocksdb": "SET GLOBAL rocksdb_lock_wait_timeout = 1",
    "heap": "ALTER DATABASE stepgrid SET default_transaction_isolation = 'repeatable read'",
}


def test_a_statement_that_the_server_wants_again(server: Bench) -> None:
    """A lock wait that took too long; of PostgreSQL a row that somebody else updated."""
    run(server, "load", rows=200, anew=True)
    server.connection.query(LOCKS[server.access.storage_engine])
    server.connection.query("BEGIN")
    server.connection.query("UPDATE pi1 SET price = price + 1 WHERE transactionid = 1")
    server.connection.query("UPDATE pi1 SET price = price - 1 WHERE transactionid = 1")
    try:
        step = start(server, "insert", rows=100, rows_per_commit=10, deletes=True)
        until(lambda: _waits(server, step))
    finally:
        server.connection.query("COMMIT")
    assert step.ended() == 0, step.complaint
    assert step.figures.metrics["retries"] >= 1
    assert step.figures.metrics["deletes_per_s"] > 0  # of milliseconds: how many is chance, the rows are not
    assert [line["rows"] for line in checked(server)] == [200]


def _waits(server: Bench, step: Step) -> bool:
    if server.postgres:
        server.connection.query("SELECT pg_stat_clear_snapshot()")
        return server.number("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") > 0
    return any(line.get("retries") for line in step.lines if line["report"] == "client")


def test_what_is_asked(server: Bench) -> None:
    run(server, "load", rows=2000, rows_per_commit=500, anew=True)
    with server.log(prepared=False) as seen:
        run(server, "index", first_rows=2)
    made = [sql for sql in seen if "marketsegment" in sql or "pdc" in sql or "registersegment" in sql]
    assert [_shape(sql) for sql in made] == INDEXES["postgres" if server.postgres else server.access.storage_engine]
    with server.log(prepared=False) as seen:
        run(server, "query", deletes=True, rows_per_commit=2, insert_rate=2, duration=1.0)
        run(server, "query", query="point", rows_per_query=3, duration=1.0)
    shapes = {_shape(sql) for sql in seen if "progress" not in sql and "SELECT 1" not in sql}
    force = "" if server.postgres else " FORCE INDEX (pi1_{})"
    ranges = {
        f"SELECT {columns} FROM pi1{force.format(index)} WHERE {first} N ORDER BY {columns} LIMIT N"
        for index, columns, first in (
            ("marketsegment", "productid,customerid,price", "productid >="),
            ("registersegment", "cashregisterid,customerid,price", "cashregisterid >"),
            ("pdc", "price,dateandtime,customerid", "price >="),
        )
    }
    rest = "transactionid >= N ORDER BY transactionid LIMIT N"
    delete = f"transactionid IN (SELECT transactionid FROM pi1 WHERE {rest})" if server.postgres else rest
    assert {shape for shape in shapes if "pi1" in shape} == ranges | {
        f"INSERT INTO pi1 {COLUMNS} VALUES {ROW},{ROW}",
        f"DELETE FROM pi1 WHERE {delete}",
        "SELECT transactionid,productid,data FROM pi1 WHERE transactionid IN (N,N,N)",
        "SELECT min(transactionid) FROM pi1",
        "SELECT max(transactionid) FROM pi1",
    }
    for sql in {_shape(each): each for each in seen if _shape(each) in ranges}.values():
        plan = server.plan(sql)
        key = re.search(r"ORDER BY (\w+)", sql)
        assert key is not None
        named = {"productid": "marketsegment", "cashregisterid": "registersegment", "price": "pdc"}[key[1]]
        assert plan.index == f"pi1_{named}"
        assert plan.covered


def _shape(sql: str) -> str:
    text = re.sub(r"'[0-9]+'", "N", re.sub(r"\s+", " ", sql).strip())
    return re.sub(r"\b\d+\b", "N", re.sub(r"'[^']*'", "'T'", text))


@ONE
def test_the_smallest_id_is_asked_for_every_1000_batches(server: Bench) -> None:
    run(server, "load", rows=500, anew=True)
    step = run(server, "insert", rows=2500, rows_per_commit=1, deletes=True)
    assert step.figures.metrics["min_id_resyncs"] == 2
    assert step.figures.metrics["min_id_resync_seconds"] > 0
    assert [(line["rows"], line["min"]) for line in checked(server)] == [(500, 2501)]


LOWER = """\
CREATE TRIGGER lower_ids BEFORE INSERT ON pi1 FOR EACH ROW
SET NEW.transactionid = -1000 + (@n := ifnull(@n, 0) + 1)"""


@ONE
def test_a_delete_that_finds_nothing_is_counted_as_none(server: Bench) -> None:
    """New rows are below those that it looks for, until the smallest id is asked for again."""
    run(server, "load", rows=10, anew=True)
    server.connection.query(LOWER)
    step = run(server, "insert", rows=30, rows_per_commit=10, deletes=True)
    counts = {line["operation"]: line["count"] for line in step.lines if line["report"] == "role"}
    assert counts == {"insert": 30, "delete": 30}
    assert server.number("SELECT count(*) FROM pi1") == 10
    assert [(line["rows"], line["checked"]) for line in checked(server)] == [(10, ALL)]


ASKED: dict[str, Any] = {"clients": 2, "insert_rate": 120, "rows_per_commit": 50, "deletes": True, "duration": 2.0}


@ONE_BY_DAY
@pytest.mark.parametrize(("ends", "said"), [("rows", "when the rows were in"), ("clock", "by the clock")])
def test_a_rate_is_kept(server: Bench, ends: str, said: str) -> None:
    run(server, "load", rows=2000, clients=2, anew=True)
    run(server, "index", clients=2)
    step = until(lambda: _kept(run(server, "query", ends=ends, **ASKED)))
    found = step.figures
    inserted = [line["count"] for line in step.lines if line["report"] == "role" and line["operation"] == "insert"]
    assert inserted == [240, 240]
    assert found.metrics["inserts_per_s"] <= 240.5
    assert found.metrics["insert_shortfall_pct"] == pytest.approx(
        max(0, 100 - found.metrics["inserts_per_s"] / 2.4), abs=1e-9
    )
    assert found.facts == {"ended": said}
    assert {rate.operation for rate in found.rates} == {"insert", "delete", "query"}
    assert [buckets.operation for buckets in found.histograms] == ["insert", "delete", "range"]


def _kept(step: Step) -> Step | None:
    """A busy host may take a second that has no time for its rows."""
    return step if step.figures.metrics["insert_shortfall_pct"] < 5 else None


@ONE
def test_a_rate_that_is_too_high(server: Bench) -> None:
    """It is a shortfall of a step that ends by the clock; it lengthens one that ends when its rows are in."""
    run(server, "load", rows=2000, anew=True)
    run(server, "index")
    asked: dict[str, Any] = {"rows_per_commit": 10, "duration": 1.0}
    by_clock = run(server, "query", ends="clock", insert_rate=10_000_000, **asked).figures.metrics
    assert by_clock["insert_shortfall_pct"] == pytest.approx(100 - by_clock["inserts_per_s"] / 1e5, abs=1e-6)
    rate = int(3 * by_clock["inserts_per_s"])
    by_rows = run(server, "query", ends="rows", insert_rate=rate, **asked).figures.metrics
    assert by_rows["operations"] > 0
    assert by_rows["lengthened_seconds"] > 0
    assert by_rows["seconds"] == pytest.approx(1 + by_rows["lengthened_seconds"], abs=0.1)


@ONE
def test_what_a_second_could_not_take_is_not_made_up_for(server: Bench) -> None:
    run(server, "load", rows=200, anew=True)
    step = start(server, "query", query="point", insert_rate=100, rows_per_commit=50, duration=5.0, ends="clock")
    until(lambda: server.number("SELECT count(*) FROM pi1") == 300)
    server.connection.query("LOCK TABLES pi1 READ")
    time.sleep(3.2)
    server.connection.query("UNLOCK TABLES")
    assert step.ended() == 0, step.complaint
    assert 300 < server.number("SELECT count(*) FROM pi1") <= 600  # 700 without the lock
    assert step.figures.metrics["insert_shortfall_pct"] > 15
    inserting = next(line for line in step.lines if line["report"] == "role" and line["operation"] == "insert")
    assert inserting["ended"] - inserting["began"] == pytest.approx(5, abs=0.3)  # no rest after the end
