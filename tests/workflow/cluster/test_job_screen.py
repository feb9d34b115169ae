"""What jobs on other machines would say on the screen of the run."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from stepgrid.host import cluster_job
from stepgrid.host.failure import StageError
from stepgrid.store import plans
from stepgrid.store.status.failures import write_failure
from stepgrid.store.store import Store
from stepgrid.workflow.cluster import job_screen
from stepgrid.workflow.cluster.job_screen import JobScreen
from tests.run import finished
from tests.store.status.test_reader import LOAD, PLAN, STAGES
from tests.waiting import until


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(job_screen, "EVERY", 0.05)
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)
    found = Store(tmp_path)
    plans.publish(found, PLAN)
    return found


def test_what_ended_and_why_it_failed(store: Store) -> None:
    said = list[str]()
    screen = JobScreen(store, PLAN.digest, said.append)
    screen.start()
    finished.result(store, LOAD)
    until(lambda: said)
    attempt = store.new_attempt(STAGES[0].id)
    failure = StageError("db_bench exited with status 1", "read", attempt / "stderr", "out of memory")
    write_failure(attempt, STAGES[0].id, failure, "failed")
    screen.stop()
    assert said[0].startswith("[1/15 done] missing 14, ETA ")
    assert said[0].partition(" | ")[2].startswith("load: done")
    assert said[1:] == [
        f"failed: read 0\n  read: db_bench exited with status 1\n  | out of memory\n  log: {attempt / 'stderr'}"
    ]


def test_jobs_of_this_machine_have_the_screen_themselves(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cluster_job.ON)
    said = list[str]()
    screen = JobScreen(store, PLAN.digest, said.append)
    screen.start()
    finished.result(store, LOAD)
    screen.stop()
    assert said == []


def test_jobs_that_a_controller_forgot_are_waited_for_and_the_screen_says_so_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_screen, "LOST", 0.1)
    said = list[str]()
    screen = JobScreen(store, PLAN.digest, said.append)
    finished.make_build(store, "b-1")
    for stage in PLAN.stages:
        finished.result(store, stage)
    screen.start()
    until(lambda: said)
    time.sleep(0.3)
    screen.stop()
    assert said == [job_screen.FORGOTTEN]
