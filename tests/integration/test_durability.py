"""How late a server's log is durable: of servers that sync each commit, and of those that sync some time later."""

import signal
import subprocess
import threading
import time
from contextlib import closing

import pytest

from stepgrid.host.processes.supervision import environment
from stepgrid.plugins import driver
from stepgrid.plugins.driver import Context
from stepgrid.plugins.registry import server_engine
from stepgrid.run.attempt import attach
from stepgrid_databases.collectors.durability import COLLECTOR
from tests.integration.client_steps import running

SECONDS = 6.0
INNODB = "SET GLOBAL innodb_flush_log_at_trx_commit = {}"
WAYS = {  # kind -> statements before commits that are durable at once, and later
    "postgres-heap": ("SET synchronous_commit = on", "SET synchronous_commit = off"),  # and wal_writer_delay 200 ms
    "mariadb-innodb": (INNODB.format(1), INNODB.format(2)),  # and innodb_flush_log_at_timeout 1 s
    "mysql-innodb": (INNODB.format(1), INNODB.format(2)),
}


def _lags(server, way):
    """Commit some hundred times while the collector looks on."""
    folder = server.folder / f"lags-{len(list(server.folder.glob('lags-*')))}"
    folder.mkdir()
    command = driver.server_request(COLLECTOR.module, Context({}, "", folder, folder, 1, server.access), {})
    attach(folder, command.files)
    over = threading.Event()

    def commit():
        engine = server_engine(server.access.engine)
        with closing(engine.connect(server.access)) as connection:
            connection.query(way)
            while not over.is_set():
                connection.query("INSERT INTO t VALUES (1)")
                time.sleep(0.002)

    thread = threading.Thread(target=commit)
    thread.start()
    with (folder / "stdout").open("wb") as out:
        collector = subprocess.Popen(
            command.argv, cwd=folder, env=environment(command.argv[0], command.env), stdout=out
        )
        time.sleep(SECONDS)
        collector.send_signal(signal.SIGINT)
        assert collector.wait(60) == 0
    over.set()
    thread.join()
    return COLLECTOR.parse(folder)


@pytest.mark.parametrize(
    "kind", ["postgres-heap", "mariadb-innodb", pytest.param("mysql-innodb", marks=pytest.mark.nightly)]
)
def test_a_late_sync_is_measured(server_builds, kind):
    with running(server_builds, kind) as server:
        server.connection.query("CREATE TABLE t (k int)")
        durable, late = (_lags(server, way) for way in WAYS[kind])
    assert 3 * durable["durable_lag_p50_us"] < late["durable_lag_p50_us"]
    assert 50_000 < late["durable_lag_p50_us"] < late["durable_lag_max_us"]
