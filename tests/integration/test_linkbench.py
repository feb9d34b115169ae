"""LinkBench on real servers: the graph is what was asked for, its counts are right whoever writes, failures say why."""

import os
import re
import signal

import pytest

from stepgrid_databases.drivers.linkbench.settings import MIX
from tests.integration.client_steps import ONE_BY_DAY, TWO_BY_DAY, running, waits_for_a_lock
from tests.integration.linkbench import checked, run, start
from tests.waiting import SOON, until

IDS = 1000
LINKS = 3464  # of so many ids: it follows from their number alone
TYPE = 123456789
WRITES = {"addlink": 40.0, "updatelink": 30.0, "deletelink": 30.0}
FAILED = "LinkBench failed: "
UNFINISHED = "the step that wrote the graph last did not end"


@pytest.fixture(scope="module", params=TWO_BY_DAY)
def server(server_builds, request):
    with running(server_builds, request.param) as found:
        yield found


def test_the_graph_after_a_load_and_after_requests(server):
    loaded = run(server, "load", ids=IDS, loaders=2, anew=True).figures.metrics
    assert {name: loaded[f"{name}_loaded"] for name in ("nodes", "links", "counts")} == {
        "nodes": IDS,
        "links": LINKS,
        "counts": 2 * IDS,
    }
    assert loaded["operations"] == IDS + LINKS + 2 * IDS
    assert loaded["seconds"] >= loaded["insert_seconds"] + loaded["index_seconds"]
    assert checked(server) == {
        "report": "check", "nodes": IDS, "links": LINKS, "visible": LINKS, "counts": 2 * IDS, "orphaned": 0,
    }  # fmt: skip
    step = run(server, "request", ids=IDS, requesters=3, duration=1.0)
    after = checked(server)
    graph = [line for line in step.lines if line["report"] == "graph"]
    added, deleted = (sum(line[name] for line in graph) for name in ("nodes", "deleted"))
    assert after["nodes"] == IDS + added - deleted == server.number("SELECT count(*) FROM nodetable")
    assert after["links"] > after["visible"] > 0
    assert after["counts"] == 2 * IDS
    _figures_add_up(step)


def _figures_add_up(step):
    found = step.figures
    done = sum(line["operations"] for line in step.lines if line["report"] == "client")
    assert done == found.metrics["operations"] > 100
    assert found.metrics["qps"] == pytest.approx(done / found.metrics["seconds"])
    assert {each.operation for each in found.histograms} <= set(MIX)
    assert sum(sum(each.operations) for each in found.histograms) == done
    for name in ("getnode", "getlinklist", "addlink"):
        own = found.metrics
        assert own.get(f"{name}_p50_us", 0) <= own.get(f"{name}_p95_us", own[f"{name}_max_us"] * 1.03)
        assert 0 < own[f"{name}_avg_us"] <= own[f"{name}_max_us"]
    assert {rate.client for rate in found.rates} == {0, 1, 2}


def test_a_graph_that_is_not_as_it_should_be(server):
    run(server, "load", ids=100, anew=True)
    for sql, said in (
        (f"UPDATE counttable SET count = count + 1 WHERE id = 50 AND link_type = {TYPE}",
         f"id 50, link_type {TYPE}: counttable has a count of 2, and there are 1 visible links"),
        (f"UPDATE counttable SET count = count - 1 WHERE id = 50 AND link_type = {TYPE}", None),
        (f"DELETE FROM counttable WHERE id = 50 AND link_type = {TYPE}",
         f"id 50, link_type {TYPE}: counttable has no count, and there are 1 visible links"),
        (f"INSERT INTO counttable VALUES (50, {TYPE}, 1, 0, 0)", None),
        ("DELETE FROM nodetable WHERE id = 70", "nodes of the load: 99, and should be 100"),
        ("INSERT INTO nodetable VALUES (70, 2048, 1, 0, '')", None),
        (f"UPDATE linktable SET id2 = 101 WHERE id1 = 50 AND link_type = {TYPE}",
         f"the link from 50 to 101, link_type {TYPE}, has an end that never was a node"),
    ):  # fmt: skip
        server.connection.query(sql)
        step = start(server, "check")
        assert step.ended() == (1 if said else 0)
        assert step.complaint == (FAILED + said if said else None)


LOCKS = {"innodb": "innodb_lock_wait_timeout", "rocksdb": "rocksdb_lock_wait_timeout"}


@ONE_BY_DAY
def test_a_transaction_that_waited_too_long_is_made_again(server):
    if server.postgres:
        server.connection.query("ALTER DATABASE stepgrid SET default_transaction_isolation = 'repeatable read'")
    else:
        server.connection.query(f"SET GLOBAL {LOCKS[server.access.storage_engine]} = 1")
    run(server, "load", ids=1, anew=True)
    server.connection.query("BEGIN")
    server.connection.query("UPDATE counttable SET version = version + 1")
    try:
        step = start(server, "request", ids=1, requesters=2, duration=3.0, mix=WRITES)
        until(lambda: waits_for_a_lock(server, step))
    finally:
        server.connection.query("COMMIT")
    assert step.ended() == 0, step.complaint
    assert step.figures.metrics["retries"] >= 1
    checked(server)


def test_a_client_that_is_killed(server):
    """Its transactions are whole; nobody takes the graph for one that a step has left as it should be."""
    run(server, "load", ids=IDS, anew=True)
    step = start(server, "request", ids=IDS, duration=60.0, mix=WRITES)
    until(lambda: server.number("SELECT count(*) FROM linktable") > LINKS + 5)
    os.kill(step.client.pid, signal.SIGKILL)
    assert step.ended() == -signal.SIGKILL
    visible = "SELECT count(*) FROM linktable WHERE visibility = 1"  # the server may still be at its last request
    until(lambda: server.number("SELECT sum(count) FROM counttable") == server.number(visible), SOON)
    for action, hint in (("check", ""), ("request", "; load it again")):
        step = start(server, action, **({"ids": IDS, "duration": 1.0} if action == "request" else {}))
        assert step.ended() == 1
        assert step.complaint == f"{FAILED}{UNFINISHED}{hint}"


LINK = "id1, id2, link_type, visibility, data, time, version"


def test_what_is_asked(server):
    run(server, "load", ids=IDS, anew=True)
    with server.log(prepared=False) as seen:
        run(server, "request", ids=IDS, duration=2.0, mix=dict.fromkeys(MIX, 10.0), lists={"limit": 2, "continued": 50})
    shapes = {_shape(sql) for sql in seen if "linkbench_state" not in sql and "SELECT 1" not in sql}
    here = server.postgres
    new_link, new_count = (
        ("ON CONFLICT DO NOTHING", "ON CONFLICT (id, link_type) DO UPDATE SET count = counttable.count + N, version = "
         "counttable.version + N, time = excluded.time")
        if here
        else ("ON DUPLICATE KEY UPDATE version = version + N", "ON DUPLICATE KEY UPDATE count = count + N, version = "
              "version + N, time = VALUES(time)")
    )  # fmt: skip
    force = "" if here else " FORCE INDEX (id1_type)"
    known = {
        "BEGIN", "COMMIT", "ROLLBACK",
        "SELECT visibility FROM linktable WHERE id1 = N AND id2 = N AND link_type = N FOR UPDATE",
        "INSERT INTO linktable (id1, id2, link_type, visibility, time, version, data) "
        f"VALUES (N, N, N, N, N, N, 'T') {new_link}",
        "UPDATE linktable SET visibility = N, time = N, version = version + N, data = 'T' WHERE id1 = N AND id2 = N "
        "AND link_type = N",
        "UPDATE linktable SET visibility = N WHERE id1 = N AND id2 = N AND link_type = N",
        f"INSERT INTO counttable (id, link_type, count, time, version) VALUES (N, N, N, N, N) {new_count}",
        "UPDATE counttable SET count = count - N, version = version + N, time = N WHERE id = N AND link_type = N",
        "SELECT count FROM counttable WHERE id = N AND link_type = N",
        f"SELECT {LINK} FROM linktable WHERE id1 = N AND link_type = N AND id2 IN (…)",
        f"SELECT {LINK} FROM linktable{force} WHERE id1 = N AND link_type = N AND time >= N AND time <= N AND "
        "visibility = N ORDER BY time DESC LIMIT N OFFSET N",
        "SELECT id, type, version, time, data FROM nodetable WHERE id = N",
        "INSERT INTO nodetable (type, version, time, data) VALUES (N, N, N, 'T')",
        "UPDATE nodetable SET version = version + N, time = N, data = 'T' WHERE id = N AND type = N",
        "DELETE FROM nodetable WHERE id = N AND type = N",
    }  # fmt: skip
    assert {shape for shape in shapes if "table" in shape or shape in known} == known
    assert any("OFFSET 1" in sql for sql in seen)
    if server.postgres:
        server.connection.query("ANALYZE linktable")
    plan = server.plan(next(sql for sql in seen if "ORDER BY time DESC" in sql))
    # of so few links PostgreSQL may as well take all by their key, and sort them
    assert plan.index in ({"id1_type", "linktable_pkey"} if here else {"id1_type"})


def _shape(sql):
    text = re.sub(r"'[0-9]+'", "N", re.sub(r"\s+", " ", sql).strip())  # of a prepared statement
    text = re.sub(r"'[^']*'", "'T'", text)
    text = re.sub(r"IN \([^)]*\)", "IN (…)", re.sub(r"\b\d+\b", "N", text))
    # the text of a link may be of digits alone
    return text.replace("data = N", "data = 'T'").replace("(N, N, N, N, N, N, N)", "(N, N, N, N, N, N, 'T')")
