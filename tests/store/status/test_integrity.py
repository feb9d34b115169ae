"""Broken results and builds are kept aside, and made again."""

import json
from dataclasses import replace

import pytest

from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage, PlannedStep, Report
from stepgrid.model.status import BrokenRecord, Status
from stepgrid.store.status.integrity import set_aside
from stepgrid.store.status.reader import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow.remaining_work import remaining_work
from tests.run import finished

STEP = PlannedStep("fill", "db_bench", 1, {}, {}, 1)
STAGE = PlannedStage("s-1", "one", "b-1", None, (), 0, 0, "h", (STEP, STEP), 1.0, 0)
BUILD = PlannedBuild("b-1", "one", "rocksdb", "1", {"system": "x"})
PLAN = Plan("p", "t", "a.yaml", None, (), (), (BUILD,), (STAGE,), {"id": "h"}, Report())


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "outputs")
    finished.result(made, STAGE)
    made.summary("p").mkdir(parents=True)
    return made


def test_while_something_is_broken_no_look_is_noted_and_its_mark_is_gone(store):
    (store.result("s-1") / "result.json").write_text("{")
    remaining_work(PLAN, store)
    assert store.last_look("p") == float("-inf")
    assert not store.mark("s-1").is_symlink()


def test_an_older_sound_result_stands_again(store):
    sound = store.result("s-1")
    (finished.result(store, STAGE) / "result.json").write_text("")
    status = StatusReader(store, PLAN).read()
    assert status.nodes["s-1"].result.folder == sound
    [broken] = status.broken
    said = set_aside(store, broken)
    assert said is not None
    assert said.startswith(f"{broken.folder} is broken: result.json cannot be read (")
    assert store.results("s-1") == [sound]
    [kept] = store.attempts("s-1")
    assert json.loads((kept / "failure.json").read_text())["status"] == "broken"


def test_what_is_gone_already_is_not_told(store):
    assert set_aside(store, BrokenRecord("s-1", store.results("s-1")[0].with_name("gone"), "x")) is None


def test_a_build_whose_record_cannot_be_read(store):
    finished.make_build(store, "b-1")
    assert StatusReader(store, PLAN).read().nodes["b-1"].status is Status.DONE
    (store.build("b-1") / "build.json").write_text("[]")
    status = StatusReader(store, PLAN).read()
    assert status.nodes["b-1"].status is Status.INTERRUPTED
    [broken] = status.broken
    assert broken.why == "build.json holds no record"
    set_aside(store, broken)
    assert not store.has_build("b-1")
    assert len(store.attempts("b-1")) == 1


def test_a_stage_that_changed_its_steps_has_another_id_and_a_wrong_count_is_broken(store):
    status = StatusReader(store, replace(PLAN, stages=(replace(STAGE, steps=(STEP,)),))).read()
    assert status.nodes["s-1"].result is None
    assert status.broken[0].why == "result.json lists 2 steps, the plan has 1"
