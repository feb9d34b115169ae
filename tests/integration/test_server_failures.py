"""How real servers fail: each said in one sentence, with the end of the log that says more."""

import os
import signal
import sys

import psutil
import pytest
from msgspec import convert

from stepgrid.host.processes import cgroup
from stepgrid.model.plan import PlannedStep
from stepgrid.model.records import StepSetup
from tests.integration.server_lab import opened, server_of, sql
from tests.waiting import LONG, until


@pytest.fixture
def lab(server_builds, tmp_path):
    with opened(server_builds, tmp_path) as found:
        yield found


def _failed(lab, **env):
    ended = lab.run("stepgrid.pipeline", "run-stage", "p", "s-1", **env)
    assert ended.returncode == 1, ended.stderr
    return str(lab.failure()["message"])


def test_a_process_of_a_server_that_crashes(lab):
    """PostgreSQL disconnects everybody, and goes on: a client that connects again would never say so."""
    step = PlannedStep("ask", "command", 1, {"argv": ["sh", "-c", "sleep 8"], "metrics": {}, "duration": 60.0}, {}, 1)
    lab.plan("postgres", step)
    runner = lab.start("stepgrid.pipeline", "run-stage", "p", "s-1")
    os.kill(_writer(server_of(lab)), signal.SIGSEGV)
    assert runner.wait(LONG) == 1
    failure = lab.failure()
    assert failure["message"] == (
        "a process of the server was killed by SIGSEGV while the step ran: background writer; "
        "all its clients were disconnected"
    )
    assert "was terminated by signal 11" in failure["tail"]


def _writer(server):
    def found():
        children = psutil.Process(server).children(recursive=True)
        return next((child.pid for child in children if "background writer" in " ".join(child.cmdline())), None)

    return int(until(found))


def test_no_connection_is_free(lab):
    code = "import psycopg, os\nkept = [psycopg.connect(dbname=os.environ['PGDATABASE']) for _ in range(20)]\n"
    settings = {"argv": [sys.executable, "-c", code], "metrics": {}, "duration": 20.0}
    options = sql("", options={"max_connections": 8}).options
    lab.plan("postgres", PlannedStep("ask", "command", 1, settings, options, 1))
    assert _failed(lab) == (
        "the server had no free connection (it has 8): raise `max_connections`, or lower the number of the "
        "step's clients"
    )
    assert "too many clients already" in lab.failure()["tail"]


@pytest.mark.skipif(not cgroup.can_limit(), reason="no cgroup with a memory limit may be made here")
def test_a_server_that_runs_out_of_memory(lab):
    grow = "set @big = repeat('x', 900000000)"
    options = sql("", options={"max_allowed_packet": 1 << 30, "performance_schema": False}).options
    settings = {"sql": ["set max_session_mem_used = 8589934592", grow], "timeout": 60.0}
    setup = {"launch": {"memory": 400 << 20}}
    lab.plan("mariadb", PlannedStep("ask", "sql", 1, settings, options, 1, setup=convert(setup, StepSetup)))
    assert _failed(lab) == (
        "the server ran out of memory while the step ran: the kernel killed it (`launch.memory`, or the host's)"
    )
