"""The insert benchmark's clients and servers by kill -9: nobody takes what is left for the rows of a step."""

import os
import re
import signal
import time

import pytest

from tests.integration.client_steps import kill_server, server_folder
from tests.integration.insert_benchmark import ALL, checked, run, start
from tests.integration.sysbench import bench
from tests.waiting import until

UNFINISHED = "pi1: the step that wrote it last did not end"


def _kill_client(server):
    """What it committed is there, in whole batches."""
    run(server, "load", rows=3000, anew=True)
    step = start(server, "insert", rows=10_000_000, rows_per_commit=50, deletes=True)
    until(lambda: server.number("SELECT max(transactionid) FROM pi1") > 5000)
    os.kill(step.client.pid, signal.SIGKILL)
    assert step.ended() == -signal.SIGKILL
    refused = start(server, "check")
    assert refused.ended() == 1
    assert refused.complaint == (
        f"the insert benchmark failed: {UNFINISHED}: client 0 had 3000 rows inserted and 0 deleted before it"
    )
    refused = start(server, "insert", rows=50)
    assert refused.ended() == 1
    assert refused.complaint == f"the insert benchmark failed: {UNFINISHED}; load it again"
    _whole_batches(server)


@pytest.mark.parametrize("kind", ["mariadb-innodb", "postgres-heap"])
def test_a_client_and_a_server_that_are_killed(server_builds, kind):
    """The step says so; the rows that it has when it is started again are whole batches, and the right ones."""
    engine, storage = kind.split("-")
    with server_folder() as folder:
        with bench(server_builds, engine, storage, folder) as first:
            _kill_client(first)
            run(first, "load", rows=3000, anew=True)
            step = start(first, "insert", rows=10_000_000, rows_per_commit=50, deletes=True)
            until(lambda: first.number("SELECT max(transactionid) FROM pi1") > 5000)
            if first.postgres:
                first.connection.query("CHECKPOINT")  # it commits before it writes
            kill_server(folder)
            # sysbench looks for an SQLSTATE where PostgreSQL's library has none, and crashes: no result either way
            assert step.ended() == (-signal.SIGSEGV if first.postgres else 1)
            assert first.postgres or re.search("Lost connection|gone away", step.complaint or "")
        with bench(server_builds, engine, storage, folder) as again:
            refused = start(again, "check")
            assert refused.ended() == 1
            assert (refused.complaint or "").startswith(f"the insert benchmark failed: {UNFINISHED}: client 0 had 3000")
            _whole_batches(again)


def _whole_batches(server):
    """Of ids without gaps the rows say themselves which should be there: then the check finds no other ones."""
    ends = "SELECT min(transactionid) AS least, max(transactionid) AS most FROM pi1"
    until(lambda: _steady(server, ends))
    (row,) = server.connection.query(ends)
    server.connection.query(
        f"UPDATE insert_benchmark_progress SET writing = 0, inserted = {row['most']}, deleted = {row['least'] - 1}"
    )
    (line,) = checked(server)
    assert (line["rows"] % 50, line["checked"]) == (0, ALL)
    assert row["most"] > 5000


def _steady(server, sql):
    """What a client that is gone had asked for may still be at work."""
    before = server.connection.query(sql)
    time.sleep(0.2)
    return before == server.connection.query(sql)
