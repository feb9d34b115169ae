import json
import shutil

import pytest

from stepgrid.store.status.results import DONE, FAILED, MISSING, UNSUPPORTED, BrokenResult, read, states
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"
QPS = {"readww": 1000.0, "overwrite": 2000.0}


@pytest.fixture
def experiment(tmp_path):
    found = Experiment(tmp_path, loads=1)
    found.add_build(BUILD)
    found.add_load(BUILD, 0)
    return found


def state(experiment, node):
    return states(experiment.store, experiment.plan)[node]


def test_a_result_is_done_with_its_steps_in_order(experiment):
    experiment.add(BUILD, "lru", "1", 0, QPS)
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert found.status == DONE
    assert [step["name"] for step in found.steps] == ["readww", "overwrite"]
    assert [folder.name for folder in found.folders] == ["0-readww", "1-overwrite"]


def test_nothing_there_is_missing_and_never_anything_else(experiment):
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason, found.result) == (MISSING, "not run yet", None)


def test_unsupported_carries_its_reason(experiment):
    experiment.add_unsupported(BUILD, "hyper", "1", 0, f"{BUILD} has no option cache_type")
    found = state(experiment, "s-7.8.3-hyper-1-0")
    assert (found.status, found.reason) == (UNSUPPORTED, f"{BUILD} has no option cache_type")


def test_a_failure_carries_step_message_and_log(experiment):
    attempt = experiment.add_failure("s-7.8.3-lru-1-0", "db_bench exited with 1")
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason) == (FAILED, "readww: db_bench exited with 1")
    assert found.log == str(attempt / "steps/0-readww/stderr")


def test_an_interrupted_attempt_is_missing(experiment):
    experiment.add_failure("s-7.8.3-lru-1-0", "interrupted by SIGTERM", status="interrupted")
    assert state(experiment, "s-7.8.3-lru-1-0").status == MISSING


def test_an_attempt_without_failure_json_runs_or_was_killed(experiment):
    attempt = experiment.store.new_attempt("s-7.8.3-lru-1-0")
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason) == (MISSING, "readww, overwrite: running, or killed")
    assert found.log == str(attempt)


def test_what_follows_a_failed_load_says_so(tmp_path):
    experiment = Experiment(tmp_path, loads=1)
    experiment.add_build(BUILD)
    experiment.add_failure("s-7.8.3-load-0", "no space left on device", step="fillseq")
    assert state(experiment, "s-7.8.3-load-0").status == FAILED
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason) == (MISSING, "not run: fillseq: no space left on device")


def test_what_follows_an_unsupported_load_is_unsupported(tmp_path):
    experiment = Experiment(tmp_path, loads=1)
    attempt = experiment.store.new_attempt("s-7.8.3-load-0")
    record = {"stage": "s-7.8.3-load-0", "status": "unsupported", "reason": "no option x"}
    (attempt / "result.json").write_text(json.dumps(record))
    experiment.store.publish_result("s-7.8.3-load-0", attempt)
    found = state(experiment, "s-7.8.3-hyper-2-0")
    assert (found.status, found.reason) == (UNSUPPORTED, "no option x")


def test_a_failed_build_is_the_reason_for_all_its_stages(tmp_path):
    experiment = Experiment(tmp_path, loads=1)
    experiment.add_failure("b-rocksdb-7.8.3", "the suite bookworm is not there", step=None)
    found = state(experiment, "s-7.8.3-lru-1-0")
    assert (found.status, found.reason) == (MISSING, "build rocksdb-7.8.3: the suite bookworm is not there")


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
    assert found.status == FAILED
    assert found.reason == f"the result {result} is broken: {message}; the next run measures it again"


def test_a_result_that_lost_its_record_is_not_one(experiment):
    result = experiment.add(BUILD, "lru", "1", 0, QPS)
    (result / "result.json").unlink()
    assert state(experiment, "s-7.8.3-lru-1-0").status in (MISSING, FAILED)
    stage = next(stage for stage in experiment.plan.stages if stage.id == "s-7.8.3-lru-1-0")
    with pytest.raises(BrokenResult, match=r"^result\.json is missing$"):
        read(result, stage)


def test_a_lost_step_folder_breaks_the_result_and_an_older_one_stands_in(experiment):
    older = experiment.add(BUILD, "lru", "1", 0, QPS)
    newer = experiment.add(BUILD, "lru", "1", 0, QPS)
    assert state(experiment, "s-7.8.3-lru-1-0").result == newer
    shutil.rmtree(newer / "steps/1-overwrite")
    assert state(experiment, "s-7.8.3-lru-1-0").result == older
