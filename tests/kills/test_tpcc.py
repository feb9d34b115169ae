"""tpcc's client and its server by kill -9: the conditions of consistency hold after both."""

import os
import signal

import pytest

from tests.integration.client_steps import kill_server, server_folder
from tests.integration.sysbench import bench
from tests.integration.tpcc import SMALL, checked, run, start
from tests.waiting import until

LOADED = 1200  # orders
NOBODY = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid != pg_backend_pid()"


@pytest.mark.parametrize(
    "kind", ["mariadb-innodb", "postgres-heap", pytest.param("mariadb-rocksdb", marks=pytest.mark.nightly)]
)
def test_a_client_and_a_server_that_are_killed(server_builds, kind):
    engine, storage = kind.split("-")
    with server_folder() as folder:
        with bench(server_builds, engine, storage, folder) as server:
            run(server, "load", loaders=2, **SMALL)
            step = _working(server, LOADED)
            os.kill(step.client.pid, signal.SIGKILL)
            assert step.ended() == -signal.SIGKILL
            if server.postgres:
                until(lambda: server.number(NOBODY) == 0)  # the last transactions of a client that is gone
            before = checked(server)["orders"]
            assert before > LOADED
            step = _working(server, before)
            if server.postgres:
                server.connection.query("CHECKPOINT")  # it commits before it writes
            kill_server(folder)
            assert step.ended() != 0
        with bench(server_builds, engine, storage, folder) as again:
            assert checked(again)["orders"] > before
            run(again, "run", clients=2, duration=1.0, **SMALL)  # it goes on from there
            checked(again)


def _working(server, orders):
    step = start(server, "run", clients=2, duration=60.0, **SMALL)
    until(lambda: server.number("SELECT count(*) FROM orders") > orders + 20)
    return step
