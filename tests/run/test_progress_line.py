"""The line of a plan's progress, `[12/45 done] 1 failed, ETA 3m10s`, by what the store has."""

import contextlib
import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import asdict

from stepgrid.host.files import Tree, write_json
from stepgrid.host.locks import locked
from stepgrid.model.plan import Plan, PlannedBuild, PlannedReport, PlannedStage, PlannedStep
from stepgrid.model.records import replace
from stepgrid.run.status_lines import head
from stepgrid.store import plans
from stepgrid.store.active_run import hold_run_lock
from stepgrid.store.status import job_status
from stepgrid.store.store import Store

BEGAN = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def at(store):
    return head(job_status(store, "d1"))


def stage(name, parent=None, seconds=10.0, rank=0):
    step = PlannedStep("readww", "db_bench", 1, {"duration": 30.0, "fresh": parent is None}, {}, 1)
    title = f"rocksdb-7.8.3 cache={name}, load 1: readww, overwrite"
    return PlannedStage(f"s-{name}", title, "b-1", parent, (), 0, 0, "h", (step,), seconds, rank)


LOAD = stage("load", seconds=100.0)
PARTS = [stage(name, "s-load", rank=rank) for rank, name in enumerate("abcd", 1)]


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "outputs")
    plan = Plan(
        "d1",
        "t",
        "spec.yaml",
        None,
        (),
        (),
        (PlannedBuild("b-1", "b", "e", "1", {}),),
        (LOAD, *PARTS),
        {},
        PlannedReport(),
    )
    store.plan("d1").parent.mkdir(parents=True)
    plans.write(plan, store.plan("d1"))
    store.build("b-1").mkdir(parents=True)
    (store.build("b-1") / "build.json").write_text("{}")
    return store


def finish(store, planned, seconds, status="done"):
    attempt = store.new_attempt(planned.id)
    for index, step in enumerate(planned.steps):
        (attempt / "steps" / f"{index}-{step.name}").mkdir(parents=True)
    steps = [{"name": step.name} for step in planned.steps]
    times = {
        "seconds": seconds,
        "started": BEGAN.isoformat(),
        "ended": (BEGAN + timedelta(seconds=seconds)).isoformat(),
    }
    write_json(attempt / "result.json", {"stage": planned.id, "status": status, "steps": steps, **times})
    store.publish_result(planned.id, attempt)
    store.image(planned.id).mkdir(parents=True)
    write_json(store.image(planned.id) / "image.json", asdict(Tree((), {}, {})))


def fail(store, node):
    (store.new_attempt(node) / "failure.json").write_text("{}")


@contextlib.contextmanager
def running(store, *nodes):
    """As their jobs do."""
    with contextlib.ExitStack() as held:
        for node in nodes:
            store.new_attempt(node)
            held.enter_context(locked(store.lock(node)))
        yield


@contextlib.contextmanager
def a_run(store, began=timedelta(minutes=-1)):
    with hold_run_lock(store, "spec.yaml", plan="d1"):
        record = json.loads(store.lock("run").read_text())
        store.lock("run").write_text(json.dumps({**record, "started": (datetime.now(UTC) + began).isoformat()}))
        yield


def test_a_build_that_is_not_made_takes_its_time_first(store):
    shutil.rmtree(store.build("b-1"))
    assert at(store) == "[0/5 done] ETA 52s to 7m21s after the build"


def test_results_of_a_kind_and_settings_say_how_long_it_takes(store):
    finish(store, LOAD, 5.0)
    assert at(store) == "[1/5 done] ETA 16s"
    finish(store, PARTS[0], 15.0)
    assert at(store) == "[2/5 done] ETA 46s"
    finish(store, PARTS[1], 25.0)
    assert at(store) == "[3/5 done] ETA 40s"


def test_an_estimate_that_the_plan_lacks_is_unknown_until_it_was_measured(tmp_path):
    store = Store(tmp_path)
    store.plan("d2").parent.mkdir(parents=True)
    stages = (replace(LOAD, seconds=0.0), replace(LOAD, id="s-again", seconds=0.0), PARTS[0])
    plans.write(Plan("d2", "t", "s", None, (), (), (), stages, {}, PlannedReport()), store.plan("d2"))
    assert head(job_status(store, "d2")) == "[0/3 done] ETA ?"
    finish(store, LOAD, 7.0)
    assert head(job_status(store, "d2")) == "[1/3 done] ETA 20s"


def test_a_failed_load_blocks_its_stages_and_a_failed_build_everything(store):
    with a_run(store):
        fail(store, "s-load")
        assert at(store) == "[0/5 done] 1 failed, 4 blocked"
        finish(store, LOAD, 1.0)
        assert at(store) == "[1/5 done] ETA 14s"
        shutil.rmtree(store.build("b-1"))
        fail(store, "b-1")
        assert at(store) == "[1/5 done] 4 blocked"
