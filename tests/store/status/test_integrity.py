"""What a result must hold, and that a look at thousands of them reads only what changed."""

import json
import shutil
import time
from dataclasses import replace

import pytest

from stepgrid.model.plan import Plan, PlannedStage, PlannedStep, Report
from stepgrid.store.status import integrity
from stepgrid.store.status.integrity import Look, set_aside
from stepgrid.store.status.results import Broken
from stepgrid.store.store import Store
from tests.run import finished

STEP = PlannedStep("fill", "db_bench", 1, {}, {}, 1)
STAGE = PlannedStage("s-1", "one", "b-1", None, (), 0, 0, "h", (STEP, STEP), 1.0, 0)
PLAN = Plan("p", "t", "a.yaml", None, (), (), (), (STAGE,), {"id": "h"}, Report())


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "outputs")
    finished.result(made, STAGE)
    made.summary("p").mkdir(parents=True)
    return made


def test_a_sound_result_is_read_once(store, monkeypatch):
    first = Look(store, PLAN)
    assert first.result(STAGE) == store.result("s-1")
    assert first.end() == ()
    store.note_look("p", time.time())
    monkeypatch.setattr(integrity, "fault", lambda *_: pytest.fail("read"))
    assert Look(store, PLAN).result(STAGE) == store.result("s-1")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda r: (r / "result.json").write_text("{"), "result.json cannot be read ("),
        (lambda r: shutil.rmtree(r / "steps" / "1-fill"), "the folder of step 1 is missing under steps/"),
        (lambda r: shutil.rmtree(r / "steps"), "the folder of step 0 is missing under steps/"),
        (lambda r: (r / "result.json").write_text('{"status": "done", "stage": "s-2"}'), "result.json is of stage s-2"),
    ],
)
def test_damage_after_a_look_is_seen(store, damage, why):
    store.note_look("p", time.time())
    time.sleep(0.02)
    damage(store.result("s-1"))
    look = Look(store, PLAN)
    assert look.result(STAGE) is None
    [broken] = look.end()
    assert (broken.node, broken.folder) == ("s-1", store.result("s-1"))
    assert broken.why.startswith(why)


def test_while_something_is_broken_no_look_is_noted_and_its_mark_is_gone(store):
    (store.result("s-1") / "result.json").write_text("{")
    look = Look(store, PLAN)
    look.result(STAGE)
    look.end()
    assert store.looked("p") == float("-inf")
    assert not store.mark("s-1").is_symlink()


def test_an_older_sound_result_stands_again(store):
    sound = store.result("s-1")
    (finished.result(store, STAGE) / "result.json").write_text("")
    look = Look(store, PLAN)
    assert look.result(STAGE) == sound
    [broken] = look.end()
    said = set_aside(store, broken)
    assert said is not None
    assert said.startswith(f"{broken.folder} is broken: result.json cannot be read (")
    assert store.results("s-1") == [sound]
    [kept] = store.attempts("s-1")
    assert json.loads((kept / "failure.json").read_text())["status"] == "broken"


def test_what_is_gone_already_is_not_told(store):
    assert set_aside(store, Broken("s-1", store.results("s-1")[0].with_name("gone"), "x")) is None


def test_a_build_whose_record_cannot_be_read(store):
    finished.make_build(store, "b-1")
    assert Look(store, PLAN).has_build("b-1")
    (store.build("b-1") / "build.json").write_text("[]")
    look = Look(store, PLAN)
    assert not look.has_build("b-1")
    [broken] = look.end()
    assert broken.why == "build.json holds no record"
    set_aside(store, broken)
    assert not store.has_build("b-1")
    assert len(store.attempts("b-1")) == 1


def test_a_stage_that_changed_its_steps_has_another_id_and_a_wrong_count_is_broken(store):
    look = Look(store, PLAN)
    assert look.result(replace(STAGE, steps=(STEP,))) is None
    assert look.broken[0].why == "result.json lists 2 steps, the plan has 1"
