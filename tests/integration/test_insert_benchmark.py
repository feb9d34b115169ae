"""The insert benchmark on real servers: every row is there, rates are kept, and what fails says so."""

import re
from collections import defaultdict

import pytest

from tests.integration.client_steps import ONE_BY_DAY, TWO_BY_DAY, running, waits_for_a_lock
from tests.integration.insert_benchmark import ALL, checked, run, start
from tests.waiting import until

QUERIES = {"rows_per_commit": 50, "insert_rate": 500, "duration": 1.0}
FIRST_3000 = 454537042  # the checksum of the first rows of the first client, by seed 7
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


@pytest.fixture(scope="module", params=TWO_BY_DAY)
def server(server_builds, request):
    with running(server_builds, request.param) as found:
        yield found


@pytest.mark.parametrize("clients", [3, *(pytest.param(number, marks=pytest.mark.nightly) for number in (1, 2, 4))])
def test_every_row_is_there(server, clients):
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


def test_a_row_that_is_missing_or_another(server):
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


LOCKS = {
    "innodb": "SET GLOBAL innodb_lock_wait_timeout = 1",
    "rocksdb": "SET GLOBAL rocksdb_lock_wait_timeout = 1",
    "heap": "ALTER DATABASE stepgrid SET default_transaction_isolation = 'repeatable read'",
}


def test_a_statement_that_the_server_wants_again(server):
    """A lock wait that took too long; of PostgreSQL a row that somebody else updated."""
    run(server, "load", rows=200, anew=True)
    server.connection.query(LOCKS[server.access.storage_engine])
    server.connection.query("BEGIN")
    server.connection.query("UPDATE pi1 SET price = price + 1 WHERE transactionid = 1")
    server.connection.query("UPDATE pi1 SET price = price - 1 WHERE transactionid = 1")
    try:
        step = start(server, "insert", rows=100, rows_per_commit=10, deletes=True)
        until(lambda: waits_for_a_lock(server, step))
    finally:
        server.connection.query("COMMIT")
    assert step.ended() == 0, step.complaint
    assert step.figures.metrics["retries"] >= 1
    assert step.figures.metrics["deletes_per_s"] > 0  # of milliseconds: how many is chance, the rows are not
    assert [line["rows"] for line in checked(server)] == [200]


def test_what_is_asked(server):
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
        named = {"productid": "marketsegment", "cashregisterid": "registersegment", "price": "pdc"}[key[1]]
        assert plan.index == f"pi1_{named}"
        assert plan.covered


def _shape(sql):
    text = re.sub(r"'[0-9]+'", "N", re.sub(r"\s+", " ", sql).strip())
    return re.sub(r"\b\d+\b", "N", re.sub(r"'[^']*'", "'T'", text))


ASKED = {"clients": 2, "insert_rate": 120, "rows_per_commit": 50, "deletes": True, "duration": 2.0}


@ONE_BY_DAY
@pytest.mark.parametrize(("ends", "said"), [("rows", "when the rows were in"), ("clock", "by the clock")])
def test_a_rate_is_kept(server, ends, said):
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


def _kept(step):
    """A busy host may take a second that has no time for its rows."""
    return step if step.figures.metrics["insert_shortfall_pct"] < 5 else None


@ONE_BY_DAY
def test_the_intervals_of_each_client_add_up_to_what_it_did(server):
    """Also the part of a second at the end, of which sysbench's last report is."""
    run(server, "load", rows=2000, clients=2, anew=True)
    run(server, "index", clients=2)
    step = run(server, "query", clients=2, deletes=True, ends="clock", **{**QUERIES, "duration": 2.0})
    done = {(each["client"], each["operation"]): each["count"] for each in step.lines if each["report"] == "role"}
    summed = defaultdict(float)
    reported = [line for line in step.lines if line["report"] == "client"]
    for line in reported:
        for name, key in (("insert", "inserts"), ("delete", "deletes"), ("query", "queries")):
            summed[line["client"], name] += line[key]
    assert summed == done
    for client in range(2):
        lines = [line for line in reported if line["client"] == client]
        assert sum(line["interval"] for line in lines) == pytest.approx(lines[-1]["second"], abs=0.01)
