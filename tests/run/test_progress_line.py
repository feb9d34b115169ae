"""The line of a plan's progress, `[12/45 done] 1 failed, ETA 3m10s`, by what the store has."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.host.files import Tree, write_json
from stepgrid.host.locks import locked
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage, PlannedStep, Report
from stepgrid.model.units import duration
from stepgrid.run.status_lines import head
from stepgrid.store import plans
from stepgrid.store.active_run import hold_run_lock
from stepgrid.store.status import job_status
from stepgrid.store.store import Store

BEGAN = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def at(store: Store) -> str:
    return head(job_status(store, "d1"))


def stage(name: str, parent: str | None = None, seconds: float = 10.0, rank: int = 0) -> PlannedStage:
    step = PlannedStep("readww", "db_bench", 1, {"duration": 30.0}, {}, 1)
    title = f"rocksdb-7.8.3 cache={name}, load 1: readww, overwrite"
    return PlannedStage(f"s-{name}", title, "b-1", parent, (), 0, 0, "h", (step,), seconds, rank)


LOAD = stage("load", seconds=100.0)
PARTS = [stage(name, "s-load", rank=rank) for rank, name in enumerate("abcd", 1)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "outputs")
    plan = Plan(
        "d1", "t", "spec.yaml", None, (), (), (PlannedBuild("b-1", "b", "e", "1", {}),), (LOAD, *PARTS), {}, Report()
    )
    store.plan("d1").parent.mkdir(parents=True)
    plans.write(plan, store.plan("d1"))
    store.build("b-1").mkdir(parents=True)
    (store.build("b-1") / "build.json").write_text("{}")
    return store


def finish(store: Store, planned: PlannedStage, seconds: float, status: str = "done") -> None:
    attempt = store.new_attempt(planned.id)
    times = {"started": BEGAN.isoformat(), "ended": (BEGAN + timedelta(seconds=seconds)).isoformat()}
    write_json(attempt / "result.json", {"status": status, **times})
    store.publish_result(planned.id, attempt)
    store.image(planned.id).mkdir(parents=True)
    write_json(store.image(planned.id) / "image.json", Tree((), {}, {}).to_json())


def fail(store: Store, node: str) -> None:
    (store.new_attempt(node) / "failure.json").write_text("{}")


@contextlib.contextmanager
def running(store: Store, *nodes: str) -> Iterator[None]:
    """As their jobs do."""
    with contextlib.ExitStack() as held:
        for node in nodes:
            store.new_attempt(node)
            held.enter_context(locked(store.lock(node)))
        yield


@contextlib.contextmanager
def a_run(store: Store, began: timedelta = timedelta(minutes=-1)) -> Iterator[None]:
    with hold_run_lock(store, "spec.yaml", plan="d1"):
        record = json.loads(store.lock("run").read_text())
        store.lock("run").write_text(json.dumps({**record, "started": (datetime.now(UTC) + began).isoformat()}))
        yield


def test_before_anything_the_declared_seconds_are_all_there_is(store: Store) -> None:
    assert at(store) == "[0/5 done] ETA ~2m20s"


def test_a_build_that_is_not_made_takes_its_time_first(store: Store) -> None:
    shutil.rmtree(store.build("b-1"))
    assert at(store) == "[0/5 done] ETA ~2m20s after the build"


def test_the_stage_that_runs_is_not_missing_but_its_time_is_ahead(store: Store) -> None:
    with running(store, "s-load"):
        assert at(store) == "[0/5 done] ETA ~2m20s"


def test_what_is_ahead_is_scaled_by_what_was_measured_of_its_kind(store: Store) -> None:
    finish(store, LOAD, 5.0)  # far shorter than declared: says nothing about the stages after it
    assert at(store) == "[1/5 done] ETA ~40s"
    finish(store, PARTS[0], 15.0)
    assert at(store) == "[2/5 done] ETA 45s"
    finish(store, PARTS[1], 25.0)
    assert at(store) == "[3/5 done] ETA 40s"


def test_unsupported_stages_say_nothing_about_time(store: Store) -> None:
    finish(store, LOAD, 100.0)
    finish(store, PARTS[0], 0.001, "unsupported")
    assert at(store) == "[1/5 done] 1 unsupported, ETA ~30s"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"status": "done"}', '{"status": "done", "started": 1, "ended": 2}'])
def test_a_result_that_cannot_be_read_counts_and_says_nothing_about_time(store: Store, text: str) -> None:
    finish(store, LOAD, 100.0)
    (store.results("s-load")[0] / "result.json").write_text(text)
    assert at(store) == "[1/5 done] ETA ~40s"


def test_when_all_is_done(store: Store) -> None:
    for planned in (LOAD, *PARTS):
        finish(store, planned, 1.0)
    assert at(store) == "[5/5 done]"


def test_an_estimate_that_the_plan_lacks_is_unknown_until_it_was_measured(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.plan("d2").parent.mkdir(parents=True)
    stages = (replace(LOAD, seconds=0.0), replace(LOAD, id="s-again", seconds=0.0), PARTS[0])
    plans.write(Plan("d2", "t", "s", None, (), (), (), stages, {}, Report()), store.plan("d2"))
    assert head(job_status(store, "d2")) == "[0/3 done] ETA ?"
    finish(store, LOAD, 7.0)
    assert head(job_status(store, "d2")) == "[1/3 done] ETA ~17s"


def test_failures_of_this_run_have_failed(store: Store) -> None:
    with a_run(store):
        finish(store, LOAD, 100.0)
        fail(store, "s-b")
        with running(store, "s-a"):
            assert at(store) == "[1/5 done] 1 failed, ETA ~30s"


def test_a_failed_load_blocks_its_stages_and_a_failed_build_everything(store: Store) -> None:
    with a_run(store):
        fail(store, "s-load")
        assert at(store) == "[0/5 done] 1 failed, 4 blocked"
        finish(store, LOAD, 1.0)
        assert at(store) == "[1/5 done] ETA ~40s"
        shutil.rmtree(store.build("b-1"))
        fail(store, "b-1")
        assert at(store) == "[1/5 done] 4 blocked"


@pytest.mark.parametrize("status", ["interrupted", "broken"])
def test_what_was_interrupted_or_broke_has_not_failed(store: Store, status: str) -> None:
    (store.new_attempt("s-load") / "failure.json").write_text(json.dumps({"status": status}))
    assert at(store) == "[0/5 done] 1 interrupted, ETA ~2m20s"


def test_what_another_machine_measures_is_not_missing(store: Store, tmp_path: Path) -> None:
    big = {"id": "big", "declared": True, "cores": 4096}
    stages = (LOAD, replace(LOAD, id="s-big", hardware="big"), replace(PARTS[0], id="s-big-a", hardware="big"))
    plan = Plan("d3", "t", "s", None, (), (), (), stages, {}, Report(), machines={"big": big, "h": {"id": "h"}})
    plans.write(plan, store.plan("d3"))
    assert head(job_status(store, "d3")) == "[0/1 done] 2 elsewhere, ETA ~1m40s"
    finish(store, stages[1], 50.0)  # brought from there
    assert head(job_status(store, "d3")) == "[1/2 done] 1 elsewhere, ETA 50s"


def test_failures_of_earlier_runs_are_tried_again(store: Store) -> None:
    fail(store, "s-load")
    with a_run(store, timedelta(minutes=1)):
        assert at(store) == "[0/5 done] ETA ~2m20s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (-3, "0s"), (59.4, "59s"), (59.6, "1m00s"), (190, "3m10s"), (7500, "2h05m"), (273600, "3d04h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@given(st.floats(0, 1e8))
def test_a_duration_is_right_to_its_smallest_unit(seconds: float) -> None:
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    parts = [(int(number), units[unit]) for number, unit in re.findall(r"(\d+)([smhd])", duration(seconds))]
    assert 0 <= seconds + 0.5 - sum(number * unit for number, unit in parts) <= parts[-1][1] + 1e-6
