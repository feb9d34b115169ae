"""A step of kind command with a real program, as a job runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.model.plan import Plan, PlannedBuild, PlannedReport, PlannedStage, PlannedStep
from stepgrid.plan import plan_file
from stepgrid.plugins.registry import driver
from stepgrid.store import plans
from stepgrid.store.results import load_result
from stepgrid.store.store import Store
from tests.cases import rows
from tests.collect.reading import figures

ROOT = Path(__file__).resolve().parents[3]
BUILD = PlannedBuild("b-1", "rocksdb", "rocksdb", "1.0", {"system": "db_bench"})
WRITE = """
import pathlib, sys
data, folder, seed = sys.argv[1:]
pathlib.Path(data, "file").write_text("x" * 100)
pathlib.Path(folder, "own").write_text("kept")
print("written 100 bytes")
print(f"seed {seed}", file=sys.stderr)
"""
METRICS = {
    "written": {"pattern": r"written (\d+) bytes", "unit": "B", "required": True},
    "seed_used": {"pattern": r"seed (\d+)"},
    "absent": {"pattern": r"absent (\d+)"},
}


def _step(argv, metrics):
    settings = driver("command").settings_model().model_validate({"argv": argv, "metrics": metrics})
    return PlannedStep("own", "command", 1, settings.model_dump(mode="json"), {}, 7)


def _run(folder, step):
    stage = PlannedStage("s-1", "title", "b-1", None, (), 0, 0, "h", (step,), 1.0, 0)
    store = Store(folder / "outputs")
    plan = Plan("p", "t", "a.yaml", None, (), (), (BUILD,), (stage,), {"id": "h", "declared": False}, PlannedReport())
    store.root.mkdir()
    store.publish_plan("p", lambda target: plans.write(plan, target))
    store.build("b-1").mkdir(parents=True)
    record = {"id": "b-1", "version": "1.0", "programs": {"python": [sys.executable, "-B"]}}
    (store.build("b-1") / "build.json").write_text(json.dumps(record))
    done = subprocess.run(
        [sys.executable, "-m", "stepgrid.pipeline", "run-stage", "p", "s-1"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return store, done


def test_a_real_program_gives_its_figures(tmp_path):
    step = _step(["{program:python}", "-c", WRITE, "{data}", "{folder}", "{seed}"], METRICS)
    store, done = _run(tmp_path, step)
    assert done.returncode == 0, done.stderr
    result = store.result("s-1")
    assert result is not None
    folder = result / "steps" / "0-own"
    assert (folder / "own").read_text() == "kept"
    argv = json.loads((folder / "command.json").read_text())["argv"]
    assert argv[:3] == [sys.executable, "-B", "-c"]
    [stage] = plan_file.read(store.plan("p")).stages
    [found] = figures(load_result(result, stage), [step])
    assert found.error is None
    assert {name: found.metrics[name] for name in METRICS if name in found.metrics} == {
        "written": 100.0,
        "seed_used": 7.0,
    }


def test_no_shell_sees_the_words(tmp_path):
    words = ["{program:python}", "-c", "import sys; print(sys.argv[1:])", "$HOME; exit 3", "*"]
    store, done = _run(tmp_path, _step(words, {}))
    assert done.returncode == 0, done.stderr
    result = store.result("s-1")
    assert result is not None
    assert (result / "steps" / "0-own" / "stdout").read_text() == "['$HOME; exit 3', '*']\n"


@pytest.mark.parametrize(("words", "message"), rows(__file__, "a_failure_is_told"))
def test_a_failure_is_told(tmp_path, words, message):
    store, done = _run(tmp_path, _step(words, METRICS))
    assert done.returncode == 1
    assert store.result("s-1") is None
    failure = json.loads((store.attempts("s-1")[-1] / "failure.json").read_text())
    assert failure["message"] == message
