import json
import shutil
import time

import pytest

from stepgrid.host.files import write_json
from stepgrid.model.status import Status
from stepgrid.store.record_header import head
from stepgrid.store.status import attempts, results
from stepgrid.store.status.reader import StatusReader
from stepgrid.store.status.results import BrokenResult, Results, read, seconds
from tests.summarize.synthetic import Experiment

BUILD, STAGE = "rocksdb-7.8.3", "s-7.8.3-lru-1-0"
QPS = {"readww": 1000.0, "overwrite": 2000.0}


@pytest.fixture
def experiment(tmp_path):
    found = Experiment(tmp_path, loads=1)
    found.add_build(BUILD)
    found.add_load(BUILD, 0)
    return found


def state(experiment, node):
    return StatusReader(experiment.store, experiment.plan).read().nodes[node]


def test_a_result_is_done_with_its_steps_in_order(experiment):
    experiment.add(BUILD, "lru", "1", 0, QPS)
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert found.status is Status.DONE
    assert [step["name"] for step in found.result.steps] == ["readww", "overwrite"]
    assert [folder.name for folder in found.result.folders] == ["0-readww", "1-overwrite"]


def test_nothing_there_is_missing_and_never_anything_else(experiment):
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason, found.result) == (Status.MISSING, "", None)


def test_unsupported_carries_its_reason(experiment):
    experiment.add_unsupported(BUILD, "hyper", "1", 0, f"{BUILD} has no option cache_type")
    found = state(experiment, "s-7.8.3-hyper-1-0")
    assert (found.status, found.reason) == (Status.UNSUPPORTED, f"{BUILD} has no option cache_type")


def test_a_failure_carries_step_message_and_log(experiment):
    attempt = experiment.add_failure("s-7.8.3-lru-1-0", "db_bench exited with 1")
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason) == (Status.FAILED, "readww: db_bench exited with 1")
    assert found.log == (attempt / "steps/0-readww/stderr")


def test_an_interrupted_attempt_has_not_failed(experiment):
    experiment.add_failure("s-7.8.3-lru-1-0", "interrupted by SIGTERM", status="interrupted")
    assert state(experiment, "s-7.8.3-lru-1-0").status is Status.INTERRUPTED


def test_an_attempt_without_failure_json_whose_lock_is_free_was_killed(experiment):
    attempt = experiment.store.new_attempt("s-7.8.3-lru-1-0")
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason) == (Status.INTERRUPTED, attempts.KILLED)
    assert found.log == attempt


def test_what_follows_a_failed_load_says_so(tmp_path):
    experiment = Experiment(tmp_path, loads=1)
    experiment.add_build(BUILD)
    experiment.add_failure("s-7.8.3-load-0", "no space left on device", step="fillseq")
    assert state(experiment, "s-7.8.3-load-0").status == Status.FAILED
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason) == (Status.BLOCKED, "fillseq: no space left on device")


def test_what_follows_an_unsupported_load_is_unsupported(tmp_path):
    experiment = Experiment(tmp_path, loads=1)
    attempt = experiment.store.new_attempt("s-7.8.3-load-0")
    record = {"stage": "s-7.8.3-load-0", "status": "unsupported", "reason": "no option x"}
    (attempt / "result.json").write_text(json.dumps(record))
    experiment.store.publish_result("s-7.8.3-load-0", attempt)
    found = state(experiment, "s-7.8.3-hyper-2-0")
    assert (found.status, found.reason) == (Status.UNSUPPORTED, "no option x")


def test_a_failed_build_is_the_reason_for_all_its_stages(tmp_path):
    experiment = Experiment(tmp_path, loads=1)
    experiment.add_failure("b-rocksdb-7.8.3", "the suite bookworm is not there", step=None)
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason) == (Status.BLOCKED, "build rocksdb-7.8.3: the suite bookworm is not there")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{",
            "result.json cannot be read (EOF while parsing an object at line 1 column 1)",
        ),
        ("[]", "result.json has no status that a result may have (done, unsupported)"),
        ('{"status": "failed"}', "result.json has no status that a result may have (done, unsupported)"),
        ('{"status": "done", "stage": "s-x"}', "result.json is of stage s-x, not s-7.8.3-lru-1-0"),
        ('{"status": "done", "stage": "s-7.8.3-lru-1-0", "steps": [{}]}', "result.json lists 1 steps, the plan has 2"),
        ('{"status": "done", "stage": "s-7.8.3-lru-1-0"}', "result.json lists no steps, the plan has 2"),
    ],
)
def test_a_broken_result_is_named(experiment, text, message):
    result = experiment.add(BUILD, "lru", "1", 0, QPS)
    (result / "result.json").write_text(text)
    stage = next(stage for stage in experiment.plan.stages if stage.id == "s-7.8.3-lru-1-0")
    with pytest.raises(BrokenResult) as caught:
        read(result, stage)
    assert str(caught.value) == message
    found = state(experiment, stage.id)
    assert found.status is Status.INTERRUPTED
    assert found.reason == f"the result {result} is broken: {message}; the next run measures it again"


def test_a_result_that_lost_its_record_is_not_one(experiment):
    result = experiment.add(BUILD, "lru", "1", 0, QPS)
    (result / "result.json").unlink()
    assert state(experiment, "s-7.8.3-lru-1-0").status is Status.MISSING
    stage = next(stage for stage in experiment.plan.stages if stage.id == "s-7.8.3-lru-1-0")
    with pytest.raises(BrokenResult, match=r"^result\.json is missing$"):
        read(result, stage)


def test_a_lost_step_folder_breaks_the_result_and_an_older_one_stands_in(experiment):
    older = experiment.add(BUILD, "lru", "1", 0, QPS)
    newer = experiment.add(BUILD, "lru", "1", 0, QPS)
    assert state(experiment, "s-7.8.3-lru-1-0").result.folder == newer
    shutil.rmtree(newer / "steps/1-overwrite")
    assert state(experiment, "s-7.8.3-lru-1-0").result.folder == older


def test_a_sound_result_is_read_in_full_once(experiment, monkeypatch):
    path = experiment.add(BUILD, "lru", "1", 0, QPS) / "result.json"
    write_json(path, json.loads(path.read_text()))
    stage = next(stage for stage in experiment.plan.stages if stage.id == STAGE)
    whole = Results(experiment.store).of(stage)
    time.sleep(0.02)
    monkeypatch.setattr(results, "read", lambda *_: pytest.fail("read"))
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
def test_damage_after_a_look_is_seen(experiment, damage, why):
    result, since = experiment.add(BUILD, "lru", "1", 0, QPS), time.time()
    stage = next(stage for stage in experiment.plan.stages if stage.id == STAGE)
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
    assert head(path) == {"status": "done"}
    path.write_bytes(path.read_bytes()[:kept])
    assert head(path) == {}


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
    assert seconds(record) == took
