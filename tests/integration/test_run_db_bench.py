"""A load and a measured child as jobs, with a real db_bench."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.model.plan import Option, Plan, PlannedBuild, PlannedReport, PlannedStage, PlannedStep
from stepgrid.model.records import replace
from stepgrid.plan import plan_file
from stepgrid.plugins.hit_rate import expected_percent
from stepgrid.plugins.metrics import METRICS
from stepgrid.store import plans
from stepgrid.store.results import load_result
from stepgrid.store.store import Store
from tests.collect.reading import figures, series_rows, usage

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = {"write_buffer_size": Option(1 << 20), "compression_type": Option("none")}


def _step(name, **settings):
    return PlannedStep(name, "db_bench", 1, {"keys": 200_000, **settings}, OPTIONS, 7)


LOAD = PlannedStage(
    "s-load", "load", "b-1", None, ("s-read",), 0, 0, "h", (_step("fillseq", benchmarks=["fillseq"], fresh=True),), 3, 0
)
READ = PlannedStage(
    "s-read",
    "read",
    "b-1",
    "s-load",
    (),
    0,
    0,
    "h",
    (_step("readww", benchmarks=["readwhilewriting"], threads=2, duration=3.0, write_rate=1 << 20),),
    3,
    1,
)


@pytest.fixture
def checkout(tmp_path, db_bench):
    store = Store(tmp_path / "outputs")
    build = PlannedBuild("b-1", "rocksdb", "rocksdb", "", {"system": "db_bench"})
    store.build("b-1").mkdir(parents=True)
    record = {"id": "b-1", "version": "0", "programs": {"db_bench": [str(db_bench)]}}
    (store.build("b-1") / "build.json").write_text(json.dumps(record))
    plan = Plan(
        "p", "t", "x.yaml", None, (), (), (build,), (LOAD, READ), {"id": "h", "declared": False}, PlannedReport()
    )
    plans.write(plan, store.plan("p"))
    return tmp_path


def _run(checkout, stage):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "STEPGRID_HOST_LOCK": str(checkout / "host.lock")}
    argv = [sys.executable, "-m", "stepgrid.pipeline", "run-stage", "p", stage]
    return subprocess.run(argv, cwd=checkout, env=env, capture_output=True, text=True, timeout=120)


def test_a_load_and_its_child(checkout):
    store = Store(checkout / "outputs")
    for stage in ("s-load", "s-read"):
        done = _run(checkout, stage)
        assert done.returncode == 0, done.stderr
    result = store.result("s-read")
    assert result is not None
    image = json.loads((result / "attempt.json").read_text())["image"]
    assert image["replayed"] is False
    assert image["method"] in ("hardlink", "reflink")
    assert image["bytes"] > 200_000 * 100
    folder = result / "steps" / "0-readww"
    found = usage(folder, 1000.0)
    assert found.keys() <= METRICS.keys()
    assert found["cpu_seconds"] > 0.1
    assert found["process_rss_bytes"] > 1 << 20
    assert found["database_bytes"] >= 200_000 * 100
    assert 0 < found["host_cpu_user_pct"] + found["host_cpu_system_pct"] <= 100
    assert len(series_rows(folder)) >= 3
    began = figures(load_result(result, READ), READ.steps)[0].start["levels"]
    files = [path.stat().st_size for path in store.image("s-load").rglob("*.sst")]
    assert [sum(each) for each in zip(*began.values(), strict=True)] == [len(files), sum(files)]
    assert not figures(load_result(store.result("s-load"), LOAD), LOAD.steps)[0].start, "it began with nothing"


def test_what_a_step_drains_is_no_part_of_its_averages(checkout):
    store = Store(checkout / "outputs")
    plan = plan_file.read(store.plan("p"))
    waits = ["overwrite", "flush", "waitforcompaction", "stats"]
    stage = replace(LOAD, steps=(*LOAD.steps, _step("overwrite", benchmarks=waits, duration=3.0)))
    shutil.rmtree(store.plan("p"))
    plans.write(replace(plan, stages=(stage,)), store.plan("p"))
    done = _run(checkout, "s-load")
    assert done.returncode == 0, done.stderr
    result = store.result("s-load")
    assert result is not None
    folders = [result / "steps" / "0-fillseq", result / "steps" / "1-overwrite"]
    load, overwrite = figures(load_result(result, stage), stage.steps)
    whole, step = usage(folders[1], None), json.loads((folders[1] / "step.json").read_text())

    found = overwrite.metrics
    assert found.keys() <= METRICS.keys()
    assert found["drain_seconds"] == pytest.approx(found["uptime_seconds"] - found["seconds"])
    assert found["drain_seconds"] > 4.9  # db_bench sleeps that long before it looks
    assert found["process_cores"] > 1.5 * whole["process_cores"]
    assert found["cpu_seconds"] + found["drain_cpu_seconds"] == pytest.approx(step["user"] + step["system"], abs=0.5)
    assert len(series_rows(folders[1])) >= 7
    assert not [name for name in load.metrics if name.startswith("drain")]
    assert load.metrics["cpu_seconds"] == usage(folders[0], None)["cpu_seconds"]
    used = json.loads(overwrite.facts["options"])
    assert (used["write_buffer_size"], used["compression"]) == ("1048576", "NoCompression")
    assert overwrite.facts["engine_version"] == overwrite.facts["version"]


IN_LOG = {"write_buffer_size": Option(64 << 20), "compression_type": Option("none")}
SMALL = replace(LOAD, steps=(replace(LOAD.steps[0], options=IN_LOG),))  # all of it is in the write-ahead log
LOOKUP = replace(READ, steps=(replace(_step("reads", benchmarks=["readrandom"], reads=20_000), options=IN_LOG),))


def _plan(checkout, *stages):
    store = Store(checkout / "outputs")
    plan = plan_file.read(store.plan("p"))
    shutil.rmtree(store.plan("p"))
    plans.write(replace(plan, stages=stages), store.plan("p"))
    return store


def test_a_step_that_finds_no_key_fails_and_its_image_is_not_used_again(checkout):
    store = _plan(checkout, SMALL, LOOKUP)
    assert _run(checkout, "s-load").returncode == 0
    (log,) = (store.image("s-load") / "data").glob("*.log")
    before = log.stat().st_mtime_ns
    log.write_bytes(bytes(log.stat().st_size))  # RocksDB takes it for a log that was cut off, and opens
    os.utime(log, ns=(before, before))  # as a disk does that loses what it held
    assert _run(checkout, "s-read").returncode == 1
    failure = json.loads((store.attempts("s-read")[-1] / "failure.json").read_text())
    assert (failure["step"], failure["message"]) == (
        "reads",
        "it found none of the keys that it looked up; 100 % were expected; "
        f"the image that it started from was removed (the image is damaged: {log.name} is not what was saved: "
        "its checksum differs): the next attempt makes it again",
    )
    done = _run(checkout, "s-read")
    assert done.returncode == 0, done.stderr
    result = store.result("s-read")
    assert result is not None
    assert json.loads((result / "attempt.json").read_text())["image"]["stages_replayed"] == ["s-load"]
    assert figures(load_result(result, LOOKUP), LOOKUP.steps)[0].metrics["found_pct"] == 100


@pytest.mark.parametrize("load", ["fillseq", "fillrandom", "filluniquerandom"])
def test_as_many_keys_are_found_as_are_expected(checkout, load):
    small = {"keys": 20_000, "threads": 1}
    steps = (
        _step("load", benchmarks=[load], fresh=True, **small),
        replace(_step("deletes", benchmarks=["deleterandom"], **small), options={**OPTIONS, "deletes": Option(5_000)}),
        _step("reads", benchmarks=["readrandom"], reads=20_000, **small),
        _step("seeks", benchmarks=["seekrandom"], reads=20_000, **small),
    )
    stage = replace(LOAD, steps=tuple(replace(step, seed=seed) for seed, step in enumerate(steps)), children=())
    store = _plan(checkout, stage)
    done = _run(checkout, "s-load")
    assert done.returncode == 0, done.stderr
    result = store.result("s-load")
    assert result is not None
    found = [each.metrics.get("found_pct") for each in figures(load_result(result, stage), stage.steps)]
    assert found == pytest.approx(expected_percent(stage.steps), abs=3)
