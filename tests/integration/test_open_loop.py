"""Clients that keep a rate: a server that stands still for a second shows in their latency as arithmetic says."""

import os
import signal
import threading
import time
from contextlib import suppress

import psutil
import pytest

from stepgrid_databases.drivers.insert_benchmark import DRIVER as INSERT_BENCHMARK
from stepgrid_databases.drivers.linkbench import DRIVER as LINKBENCH
from stepgrid_databases.drivers.sql import DRIVER as SQL
from stepgrid_databases.drivers.tpcc import DRIVER as TPCC
from stepgrid_databases.engines.mysqld.connection import connect
from tests.integration.client_steps import Client, running, serves
from tests.waiting import until

SECONDS = 10
SMALL = {"warehouses": 2, "items": 200, "customers": 60}
INTERVALS = ("client", "interval")  # of one client, or of all
INSERTS = {"insert_rate": 100, "rows_per_commit": 4, "deletes": True, "ends": "clock", "arrivals": "even"}
STEPS = {
    "tpcc": (TPCC, [("load", SMALL)], "run", {"clients": 8, "mix": {"order_status": 60.0, "payment": 40.0}, **SMALL}),
    "linkbench": (LINKBENCH, [("load", {"ids": 2000})], "request", {"ids": 2000, "requesters": 8}),
    "insert_benchmark": (
        INSERT_BENCHMARK, [("load", {"rows": 5000}), ("index", {})], "query", {"clients": 4, "tables": 1, **INSERTS},
    ),
    "sql": (SQL, [], "run", {"clients": 8, "sql": ["select 1", "select 2"]}),
}  # fmt: skip


@pytest.fixture(scope="module", params=["mariadb-innodb", pytest.param("postgres-heap", marks=pytest.mark.nightly)])
def server(server_builds, request):
    with running(server_builds, request.param) as found:
        yield found


def stop_for_a_second(folder):
    """Give the seconds for which the server stood still."""
    servers = [each for each in psutil.process_iter(["cmdline"]) if serves(each.info["cmdline"] or [], str(folder))]
    everyone = {each.pid for server in servers for each in (server, *server.children(recursive=True))}
    began = time.monotonic()
    for sign, pause in ((signal.SIGSTOP, 1.0), (signal.SIGCONT, 0.0)):
        for pid in everyone:
            with suppress(ProcessLookupError):
                os.kill(pid, sign)
        time.sleep(pause)
    return time.monotonic() - began


def stalled(server, client, action, **given):
    """Run a step whose server stands still once; with it the 99th percentile that a steady rate must have."""
    step = client.start(server, action, duration=float(SECONDS), **given)
    stalls = []

    def stall():
        until(lambda: [line for line in step.lines if line["report"] in INTERVALS and line["second"] > 2])
        stalls.append(stop_for_a_second(server.folder))

    thread = threading.Thread(target=stall)
    thread.start()
    assert step.ended() == 0, step.complaint
    thread.join()
    return step.figures, (stalls[0] - 0.01 * SECONDS) * 1e6


@pytest.mark.parametrize("kind", STEPS)
def test_the_latency_of_a_stall(server, kind):
    driver, before, action, given = STEPS[kind]
    client = Client(driver)
    for name, settings in before:
        client.run(server, name, anew=name == "load", **settings)
    figures, expected = stalled(server, client, action, rate=200, **given)
    metrics = figures.metrics
    assert 0.8 * expected < metrics["p99_us"] < 3 * expected  # a busy host stalls by itself
    assert (metrics["backlog"], metrics["target_qps"], metrics["operations"]) == (0, 200, 200 * SECONDS)
    assert metrics["service_p99_us"] < 0.5 * expected
    if kind == "insert_benchmark":
        assert metrics["insert_p95_us"] < metrics["insert_p99_us"]
        assert 0.8 * expected < metrics["insert_p99_us"] < 3 * expected
        return
    if kind == "sql":  # it has no closed loop
        assert {name.partition(" of ")[2] for name in figures.facts.values()} == {"1000: select 1", "1000: select 2"}
        return
    closed, expected = stalled(server, client, action, **given)
    assert closed.metrics["p99_us"] < 0.5 * expected
    assert "backlog" not in closed.metrics


def test_clients_that_cannot_keep_up(server):
    client = Client(TPCC)
    client.run(server, "load", anew=True, **SMALL)
    figures = client.run(server, "run", clients=1, duration=2.0, rate=1_000_000, **SMALL).figures
    assert figures.metrics["backlog"] + figures.metrics["operations"] == 2_000_000
    assert figures.metrics["service_avg_us"] > 0
    assert not [name for name in figures.metrics if name.endswith("p99_us") and not name.startswith("service_")]
    assert figures.warnings[-1].startswith("the clients did not keep up: ")


def test_statements_that_are_late(server):
    """A missed rate has no latency, not even of a statement; a client that must end says what it waits for."""
    client, slow = Client(SQL), "select sleep(1)" if server.access.engine == "mariadb" else "select pg_sleep(1)"
    late = client.run(server, "run", sql=[slow], rate=10, duration=2.0).figures
    assert (late.metrics["backlog"] + late.metrics["operations"], "p99_us" in late.metrics) == (20, False)
    assert late.facts["statement 1"].endswith(f": {slow}")
    assert "p99" not in late.facts["statement 1"]
    step = client.start(server, "run", sql=[slow.replace("1", "30")], rate=1, duration=1.0, timeout=1.0)
    assert step.ended() == 1
    if server.access.engine == "mariadb":
        (cipher,) = connect(server.access).query("show status like 'Ssl_cipher'")
        assert cipher["Value"] == "", "TLS at a socket would cost a sixth of a point query"
    message = f"after 2 s not all statements had an answer, 0 had\nstatement 1 of 1 clients: {slow.replace('1', '30')}"
    assert (step.folder / "stderr").read_text().strip() == message


@pytest.mark.parametrize("rate", [{"sine": [50, 300], "period": 4.0}, {"ramp": [50, 300], "over": 6.0}])
def test_a_rate_that_changes_is_served(server, rate):
    """As many operations in all as were asked for, and in each half."""
    client = Client(TPCC)
    client.run(server, "load", anew=True, **SMALL)
    mix = {"order_status": 100.0}  # no client waits for another
    figures = client.run(server, "run", clients=8, duration=8.0, rate=rate, mix=mix, **SMALL).figures
    asked = 8 * 175 if "sine" in rate else 6 * 175 + 2 * 300
    assert figures.metrics["operations"] == pytest.approx(asked, rel=0.02)
    assert figures.metrics["backlog"] == 0
