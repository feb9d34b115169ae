"""Results: what is read, what is broken, checksums of files, all that was tried of a stage."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepgrid.host.files import write_json
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage, PlannedStep, Report
from stepgrid.model.status import BrokenRecord, Status
from stepgrid.store import attempts, results
from stepgrid.store.results import (
    BrokenResult,
    Results,
    is_sound_step,
    load_result,
    read_head,
    record_seconds,
    set_aside,
)
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow.remaining_work import remaining_work
from tests.run import finished
from tests.summarize.synthetic import Experiment

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def result_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "result"
    (folder / "steps" / "0-fill").mkdir(parents=True)
    (folder / "steps" / "0-fill" / "stdout").write_text("put: 1 ops\n")
    (folder / "attempt.json").write_text("{}")
    (folder / "result.json").write_text("{}")
    return folder


def test_every_file_but_the_record_has_its_size_and_checksum(result_folder: Path) -> None:
    (result_folder / "steps" / "0-fill" / ".stdout.77").write_text("half made")
    (result_folder / "link").symlink_to("attempt.json")
    os.mkfifo(result_folder / "pipe")
    digest = hashlib.sha256(b"put: 1 ops\n").hexdigest()
    found = results.result_checksums(result_folder)
    assert [*found] == ["attempt.json", "steps/0-fill/stdout"]
    assert found["steps/0-fill/stdout"] == {"bytes": 11, "sha256": digest}


def test_a_file_of_more_than_one_reading(result_folder: Path) -> None:
    content = os.urandom(results.CHUNK * 2 + 7)
    (result_folder / "LOG").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    assert results.result_checksums(result_folder)["LOG"] == {"bytes": len(content), "sha256": digest}


def test_what_came_later_is_no_difference(result_folder: Path) -> None:
    files = results.result_checksums(result_folder)
    (result_folder / "figures.db_bench.5.json").write_text("{}")
    (result_folder / "retracted.json").write_text("{}")
    assert results.checksum_difference(result_folder, files) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "`steps/0-fill/stdout` has 0 bytes, it was published with 11"),
        (b"put: 9 ops\n", "the checksum of `steps/0-fill/stdout` differs from the published one"),
        (None, "`steps/0-fill/stdout` is missing"),
    ],
)
def test_a_difference_is_named(result_folder: Path, content: bytes | None, said: str) -> None:
    files, path = results.result_checksums(result_folder), result_folder / "steps" / "0-fill" / "stdout"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert results.checksum_difference(result_folder, files) == said


def test_a_folder_in_the_place_of_a_file(result_folder: Path) -> None:
    files = results.result_checksums(result_folder)
    (result_folder / "attempt.json").unlink()
    (result_folder / "attempt.json").mkdir()
    assert results.checksum_difference(result_folder, files) == "`attempt.json` cannot be read (Is a directory)"


LOOK_AT_FILES = """
import json, sys
from pathlib import Path
from stepgrid.store.results import checksum_difference, result_checksums
result, files = Path(sys.argv[1]), json.loads(sys.argv[2])
print(checksum_difference(result, files), *result_checksums(result))
"""


# root without its right to read every file
POWERLESS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_a_lack_of_permission_says_nothing_of_a_file(result_folder: Path) -> None:
    files = results.result_checksums(result_folder)
    (result_folder / "attempt.json").chmod(0)
    prefix = POWERLESS if os.geteuid() == 0 else []
    argv = [*prefix, sys.executable, "-c", LOOK_AT_FILES, str(result_folder), json.dumps(files)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    done = subprocess.run(argv, capture_output=True, text=True, env=env)
    assert (done.stdout, done.stderr) == ("None steps/0-fill/stdout\n", "")


BUILD, STAGE, LOAD = "rocksdb-7.8.3", "s-7.8.3-lru-1-0", "s-7.8.3-load-0"
QPS = {"readww": 1000.0, "overwrite": 2000.0}


@pytest.fixture
def experiment(tmp_path):
    found = Experiment(tmp_path, loads=1)
    found.add_build(BUILD)
    found.add_load(BUILD, 0)
    return found


@pytest.fixture
def stage(experiment):
    return next(stage for stage in experiment.plan.stages if stage.id == STAGE)


def state(experiment, node=STAGE):
    return StatusReader(experiment.store, experiment.plan).read().nodes[node]


def test_a_result_is_done_with_its_steps_in_order(experiment):
    experiment.add(BUILD, "lru", "1", 0, QPS)
    found = state(experiment)
    assert found.status is Status.DONE
    assert [step["name"] for step in found.result.steps] == ["readww", "overwrite"]
    assert [folder.name for folder in found.result.folders] == ["0-readww", "1-overwrite"]


def unsupported(experiment, node):
    attempt = experiment.store.new_attempt(node)
    write_json(attempt / "result.json", {"stage": node, "status": "unsupported", "reason": "no option x"})
    experiment.store.publish_result(node, attempt)


def fail(experiment, node, message, **more):
    return experiment.add_failure(node, message, **more) / "steps/0-readww/stderr"


@pytest.mark.parametrize(
    ("fill", "status", "reason"),
    [
        (lambda e: None, "missing", ""),
        (lambda e: unsupported(e, STAGE), "unsupported", "no option x"),
        (lambda e: unsupported(e, LOAD), "unsupported", "no option x"),
        (lambda e: fail(e, STAGE, "exited with 1"), "failed", "readww: exited with 1"),
        (lambda e: fail(e, STAGE, "SIGTERM", status="interrupted"), "interrupted", "readww: SIGTERM"),
        (lambda e: e.store.new_attempt(STAGE), "interrupted", attempts.KILLED),
        (lambda e: fail(e, LOAD, "no space left", step="fillseq"), "blocked", "fillseq: no space left"),
        (lambda e: fail(e, f"b-{BUILD}", "no such suite", step=None), "blocked", f"build {BUILD}: no such suite"),
    ],
)
def test_a_stage_without_a_result_says_why_and_where_the_log_is(tmp_path, fill, status, reason):
    experiment = Experiment(tmp_path, loads=1)
    log = fill(experiment)
    found = state(experiment)
    assert (found.status, found.reason, found.log) == (status, reason, log)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "result.json cannot be read (EOF while parsing an object at line 1 column 1)"),
        ("[]", "result.json has no status that a result may have (done, unsupported)"),
        ('{"status": "failed"}', "result.json has no status that a result may have (done, unsupported)"),
        ('{"status": "done", "stage": "s-x"}', "result.json is of stage s-x, not s-7.8.3-lru-1-0"),
        ('{"status": "done", "stage": "s-7.8.3-lru-1-0", "steps": [{}]}', "result.json lists 1 steps, the plan has 2"),
        ('{"status": "done", "stage": "s-7.8.3-lru-1-0"}', "result.json lists no steps, the plan has 2"),
    ],
)
def test_a_broken_result_is_named(experiment, stage, text, message):
    result = experiment.add(BUILD, "lru", "1", 0, QPS)
    (result / "result.json").write_text(text)
    with pytest.raises(BrokenResult) as caught:
        load_result(result, stage)
    assert str(caught.value) == message
    found = state(experiment)
    assert found.status is Status.INTERRUPTED
    assert found.reason == f"the result {result} is broken: {message}; the next run measures it again"


def test_a_result_that_lost_its_record_is_not_one(experiment, stage):
    result = experiment.add(BUILD, "lru", "1", 0, QPS)
    (result / "result.json").unlink()
    assert state(experiment).status is Status.MISSING
    with pytest.raises(BrokenResult, match=r"^result\.json is missing$"):
        load_result(result, stage)


def test_a_lost_step_folder_breaks_the_result_and_an_older_one_stands_in(experiment):
    older = experiment.add(BUILD, "lru", "1", 0, QPS)
    newer = experiment.add(BUILD, "lru", "1", 0, QPS)
    assert state(experiment).result.folder == newer
    shutil.rmtree(newer / "steps/1-overwrite")
    assert state(experiment).result.folder == older


def test_a_sound_result_is_read_in_full_once(experiment, stage, monkeypatch):
    path = experiment.add(BUILD, "lru", "1", 0, QPS) / "result.json"
    write_json(path, json.loads(path.read_text()))
    whole = Results(experiment.store).of(stage)
    time.sleep(0.02)
    monkeypatch.setattr(results, "load_result", lambda *_: pytest.fail("read"))
    beginning = Results(experiment.store, time.time()).of(stage)
    assert (beginning.folder, beginning.status, beginning.steps) == (whole.folder, whole.status, ())


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda r: (r / "result.json").write_text("{"), "result.json cannot be read ("),
        (lambda r: shutil.rmtree(r / "steps" / "1-overwrite"), "the folder of step 1 is missing under steps/"),
        (lambda r: shutil.rmtree(r / "steps"), "the folder of step 0 is missing under steps/"),
        (lambda r: (r / "result.json").write_text('{"status": "done", "stage": "s-2"}'), "result.json is of stage s-2"),
    ],
)
def test_damage_after_a_look_is_seen(experiment, stage, damage, why):
    result, since = experiment.add(BUILD, "lru", "1", 0, QPS), time.time()
    time.sleep(0.02)
    damage(result)
    found = Results(experiment.store, since)
    assert found.of(stage) is None
    [broken] = found.broken(STAGE)
    assert (broken.node, broken.folder) == (STAGE, result)
    assert broken.why.startswith(why)


@pytest.mark.parametrize("kept", [0, 1, 30, 1500, -3])
def test_a_record_that_was_cut_off_says_nothing(tmp_path, kept):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"status": "done", "steps": [{"name": "readww"}] * 99}, indent=1))
    assert read_head(path) == {"status": "done"}
    path.write_bytes(path.read_bytes()[:kept])
    assert read_head(path) == {}


TIMES = {"started": "2026-01-01T10:00:00+00:00", "ended": "2026-01-01T10:00:02.500000+00:00"}


@pytest.mark.parametrize(
    ("record", "took"),
    [
        (TIMES | {"seconds": 3.25}, 3.25),
        (TIMES, 2.5),
        ({"started": TIMES["ended"], "ended": TIMES["started"]}, 0.0),
        ({"started": TIMES["started"]}, None),
        ({"seconds": "long"}, None),
    ],
)
def test_the_clock_that_nobody_sets_counts(record, took):
    assert record_seconds(record) == took


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"seconds": None, "probes": None, "counters": None},
        {"seconds": 2.5, "warnings": ["slow"], "probes": {"min_trx": 0.1}, "counters": {"min_trx": {"reads": 3}}},
    ],
)
def test_what_a_run_writes(record: dict[str, Any]) -> None:
    assert is_sound_step(record)


@pytest.mark.parametrize(
    "record",
    [
        *(None, 3, []),
        *({"seconds": value} for value in ("2", [2], True)),
        *({"warnings": value} for value in (None, "slow", [3])),
        *({"probes": value} for value in (["min_trx"], {"min_trx": None}, {"min_trx": "x"})),
        *({"counters": value} for value in (["reads"], {"min_trx": 3}, {"min_trx": {"reads": []}})),
    ],
)
def test_what_none_writes(record: object) -> None:
    assert not is_sound_step(record)


FILL = PlannedStep("fill", "db_bench", 1, {}, {}, 1)


FILLED = PlannedStage("s-1", "one", "b-1", None, (), 0, 0, "h", (FILL, FILL), 1.0, 0)


ONE_BUILD = PlannedBuild("b-1", "one", "rocksdb", "1", {"system": "x"})


ONE_PLAN = Plan("p", "t", "a.yaml", None, (), (), (ONE_BUILD,), (FILLED,), {"id": "h"}, Report())


@pytest.fixture
def filled_store(tmp_path):
    made = Store(tmp_path / "outputs")
    finished.result(made, FILLED)
    made.summary("p").mkdir(parents=True)
    return made


def test_while_something_is_broken_no_look_is_noted_and_its_mark_is_gone(filled_store):
    (filled_store.result("s-1") / "result.json").write_text("{")
    remaining_work(ONE_PLAN, filled_store)
    assert filled_store.last_look("p") == float("-inf")
    assert not filled_store.mark("s-1").is_symlink()


def test_an_older_sound_result_stands_again(filled_store):
    sound = filled_store.result("s-1")
    (finished.result(filled_store, FILLED) / "result.json").write_text("")
    status = StatusReader(filled_store, ONE_PLAN).read()
    assert status.nodes["s-1"].result.folder == sound
    [broken] = status.broken
    said = set_aside(filled_store, broken)
    assert said is not None
    assert said.startswith(f"{broken.folder} is broken: result.json cannot be read (")
    assert filled_store.results("s-1") == [sound]
    [kept] = filled_store.attempts("s-1")
    assert json.loads((kept / "failure.json").read_text())["status"] == "broken"


def test_what_is_gone_already_is_not_told(filled_store):
    assert set_aside(filled_store, BrokenRecord("s-1", filled_store.results("s-1")[0].with_name("gone"), "x")) is None


def test_a_build_whose_record_cannot_be_read(filled_store):
    finished.make_build(filled_store, "b-1")
    assert StatusReader(filled_store, ONE_PLAN).read().nodes["b-1"].status is Status.DONE
    (filled_store.build("b-1") / "build.json").write_text("[]")
    status = StatusReader(filled_store, ONE_PLAN).read()
    assert status.nodes["b-1"].status is Status.INTERRUPTED
    [broken] = status.broken
    assert broken.why == "build.json holds no record"
    set_aside(filled_store, broken)
    assert not filled_store.has_build("b-1")
    assert len(filled_store.attempts("b-1")) == 1


def test_a_stage_that_changed_its_steps_has_another_id_and_a_wrong_count_is_broken(filled_store):
    status = StatusReader(filled_store, replace(ONE_PLAN, stages=(replace(FILLED, steps=(FILL,)),))).read()
    assert status.nodes["s-1"].result is None
    assert status.broken[0].why == "result.json lists 2 steps, the plan has 1"
