"""Killed, stopped, refused: with real Snakemake, runner and db_bench."""

import os
import signal
import time

import pytest

from tests import waiting
from tests.integration.conftest import SPEC, measuring

LONG = SPEC.replace("duration: 1s", "duration: 3s").replace("repeat: 2", "repeat: 1")


def test_kill_9_twice_then_the_same_command_finishes(lab):
    lab.write(LONG)
    finished = {}
    for _ in range(2):
        run = lab.start(lab.snake())
        waiting.until(lambda: measuring(lab))
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        waiting.until(lambda: not lab.processes(), waiting.SOON)
        assert finished.items() <= lab.results().items()
        finished = lab.results()
        assert lab.steps(set(finished)) == ["fillseq"]
    assert lab.execute(lab.snake()).returncode == 0
    assert finished.items() <= lab.results().items()
    assert lab.steps(set(lab.results())) == ["fillseq", "readrandom", "readrandom"]


def test_kill_9_of_a_job_fails_it_and_the_next_run_makes_it_good(lab):
    lab.write(LONG)
    run = lab.start(lab.argv("run", "spec.yaml"))
    waiting.until(lambda: measuring(lab))
    for job in lab.processes("run-stage"):
        os.kill(job.pid, signal.SIGKILL)
    assert run.wait(waiting.LONG) == 3
    assert lab.steps(set(lab.results())) == ["fillseq", "readrandom"], "the rest of the sweep goes on"
    there = lab.results()
    assert lab.run().returncode == 0
    assert there.items() <= lab.results().items()
    assert lab.steps(set(lab.results())) == ["fillseq", "readrandom", "readrandom"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_within_two_seconds(lab, number):
    lab.write(LONG.replace("duration: 3s", "duration: 60s"))
    run = lab.start(lab.argv("run", "spec.yaml"))
    waiting.until(lambda: measuring(lab))
    began = time.monotonic()
    os.killpg(run.pid, number)
    assert run.wait(waiting.SOON) != 0
    waiting.until(lambda: not lab.processes(), waiting.SOON)
    assert waiting.in_time(time.monotonic() - began, 2.0)
    assert "Traceback" not in lab.screen
