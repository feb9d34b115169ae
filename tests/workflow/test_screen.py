"""The screen of a run: lines of a log, news of a cluster, and a terminal that is shared with output of jobs."""

import re
from pathlib import Path

import pytest

from stepgrid.host import cluster_job
from stepgrid.host.failure import StageError
from stepgrid.model.records import replace
from stepgrid.model.status import ActiveWork, Status
from stepgrid.store import plans
from stepgrid.store.active_run import hold_run_lock
from stepgrid.store.attempts import write_failure
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow import screen
from stepgrid.workflow.screen import FORGOTTEN, LogView, RunScreen
from tests.run import finished
from tests.store.test_status import LOAD, PLAN, STAGES
from tests.waiting import until


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(screen, "PERIOD", 0.05)
    monkeypatch.setattr(screen, "CLUSTER_PERIOD", 0.05)
    monkeypatch.setattr(screen, "SHARE", 1)
    monkeypatch.chdir(tmp_path)
    made = Store()
    plans.publish(made, PLAN)
    return made


@pytest.fixture
def on_cluster(monkeypatch):
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)


# A log


def with_done(status, count, waits=""):
    """So many stages are done, and the next one waits or has begun."""
    nodes = {}
    for number, (name, node) in enumerate(status.nodes.items()):
        word = Status.DONE if number <= count or node.is_build else Status.MISSING
        work = ActiveWork((7,), waits=waits, since=status.now, doing="starts") if number == count + 1 else None
        nodes[name] = replace(node, status=word, work=work)
    return replace(status, nodes=nodes)


def test_a_log_names_whom_it_waits_for_once(store):
    lines = list[str]()
    view = LogView(lines.append, None)
    status = with_done(StatusReader(store, PLAN).read(), 0, "the host: process 9, which measures s-1 in /elsewhere")
    for _ in range(3):
        view.show(status)
    first, second = lines
    assert first == "load waits for the host: process 9, which measures s-1 in /elsewhere"
    assert second.startswith("[0/15 done] waiting for the host; then "), "below a second there is no time to tell"


def test_a_disturbed_stage_is_told_once_and_then_counted(store):
    lines = list[str]()
    view = LogView(lines.append, None)
    with hold_run_lock(store, PLAN.spec, plan=PLAN.digest):
        under_way = store.new_attempt(STAGES[2].id)
        results = [finished.result(store, stage) for stage in (LOAD, *STAGES[:2])]
        for number, folder in enumerate((*results, under_way)):
            (folder / "attempt.json").write_text(f'{{"noise": {{"warning": "cpu {number}"}}}}')
        status = StatusReader(store, PLAN).read()
        began = replace(status.run, started=0.0) if status.run else None
        work = ActiveWork((7,), attempt=under_way, since=status.now)
        nodes = {**status.nodes, STAGES[2].id: replace(status.nodes[STAGES[2].id], status=Status.RUNNING, work=work)}
        for _ in range(2):
            view.show(replace(status, run=began, nodes=nodes))
    assert lines[0] == "the host was not quiet before load; later stages are only counted\n  cpu 0"
    assert re.match(r"\[3/1\d done\] .*3 disturbed, ETA ", lines[1])


# A cluster, whose jobs write into logs of their own


def test_what_failed_on_a_cluster_and_why(store, on_cluster, capsys):
    run = RunScreen(store, PLAN)
    run.start()
    until(lambda: "[0/15 done]" in capsys.readouterr().err)
    finished.make_build(store, PLAN.builds[0].id)
    finished.result(store, LOAD)
    attempt = store.new_attempt(STAGES[0].id)
    failure = StageError("db_bench exited with status 1", "read", attempt / "stderr", "out of memory")
    write_failure(attempt, STAGES[0].id, failure, "failed")
    run.stop()
    *news, last = capsys.readouterr().err.splitlines()
    assert news == [
        f"done: build {PLAN.builds[0].name}",
        *("failed: read 0", "  read: db_bench exited with status 1", "  | out of memory"),
        f"  log: {attempt.relative_to(Path.cwd()) if attempt.is_absolute() else attempt}/stderr",
    ]
    assert last.startswith("[1/15 done] 1 failed, ETA ")


def test_jobs_that_a_controller_forgot_are_waited_for_and_named_once(store, on_cluster, monkeypatch, capsys):
    monkeypatch.setattr(screen, "FORGOTTEN_SECONDS", 0.1)
    finished.make_build(store, "b-1")
    for stage in PLAN.stages:
        finished.result(store, stage)
    run = RunScreen(store, PLAN)
    run.start()
    output = list[str]()
    until(lambda: FORGOTTEN in (output.append(capsys.readouterr().err) or "".join(output)))
    run.stop()
    assert ("".join(output) + capsys.readouterr().err).count(FORGOTTEN) == 1
