"""Real packages of the machine's own Debian mirror."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from stepgrid.build.record import programs
from stepgrid.model.plan import Plan, PlannedBuild, PlannedReport
from stepgrid.store import plans
from stepgrid.store.store import Store
from tests.needs import needs
from tests.waiting import LONG, SOON, until

ROOT = Path(__file__).resolve().parents[2]
PLAN = "p-1"
pytestmark = needs("apt")


@pytest.fixture
def folder(tmp_path):
    """Where outputs/ is; a blank in a path is no surprise."""
    (tmp_path / "a checkout").mkdir()
    return tmp_path / "a checkout"


def plan(folder, suite, version, package="rocksdb-tools"):
    source = {"debian": package, "suite": suite}
    build = PlannedBuild(f"b-{suite}", f"rocksdb-{version}", "rocksdb", version, source, "specs/x.yaml:4:3")
    plans.write(
        Plan(PLAN, "t", "s", None, (), (), (build,), (), {}, PlannedReport()), Store(folder / "outputs").plan(PLAN)
    )
    return build.id


def start(folder, build):
    argv = [sys.executable, "-m", "stepgrid.pipeline", "build", PLAN, build]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    return subprocess.Popen(argv, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)


def make(folder, build):
    job = start(folder, build)
    _, said = job.communicate(timeout=300)
    return job.returncode, said


@pytest.mark.parametrize(
    ("suite", "version"),
    [
        pytest.param("bullseye", "6.11.4", marks=pytest.mark.nightly),
        pytest.param("bookworm", "7.8.3", marks=pytest.mark.nightly),  # other tests measure with it
        ("trixie", "9.10.0"),
    ],
)
def test_a_suite_gives_a_db_bench_that_runs_anywhere(folder, suite, version):
    status, said = make(folder, plan(folder, suite, version))
    assert status == 0, said
    (line,) = said.splitlines()
    assert line.startswith(f"build rocksdb-{version}: debian rocksdb-tools ({suite}), built in ")
    assert line.endswith(f"s, version {version}, assertions enabled")

    check_record(folder / "outputs" / "builds" / f"b-{suite}", suite, version)

    moved = folder.rename(folder.with_name("moved"))
    build = moved / "outputs" / "builds" / f"b-{suite}"
    argv = programs(build)["db_bench"]
    run = [*argv, "--benchmarks=fillseq,readrandom", "--num=1000", f"--db={moved / 'db'}", "--compression_type=none"]
    done = subprocess.run(run, capture_output=True, text=True, env={"LC_ALL": "C"}, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "readrandom   :" in done.stdout
    assert f"version {version.rpartition('.')[0]}" in done.stdout + done.stderr


def check_record(build, suite, version):
    record = json.loads((build / "build.json").read_text())
    assert record["quality"].keys() == {"route", "suite", "architecture", "assertions"}
    assert (record["quality"]["suite"], record["assertions"]) == (suite, True)
    assert any("Assertions are enabled" in warning for warning in record["warnings"])
    assert record["artifacts"][0]["name"] == "rocksdb-tools"
    assert record["artifacts"][0]["version"].startswith(f"{version}-")
    assert len(list((build / "debs").glob("*.deb"))) == len(record["artifacts"])
    assert json.loads((build / "catalogue.json").read_text())["write_buffer_size"]["type"]
    assert sorted(path.name for path in build.iterdir()) == [
        "build.json",
        "build.log",
        "catalogue.json",
        "debs",
        "prefix",
    ]


def test_a_package_that_the_suite_lacks(folder):
    status, said = make(folder, plan(folder, "bookworm", "1", "rocksdb-tool"))
    assert status == 1
    assert "  suite bookworm has no package rocksdb-tool for " in said
    assert " (did you mean rocksdb-tools?): choose a suite that has it, or name a binary that is installed" in said
    assert "  | E: Unable to locate package rocksdb-tool\n" in said
    assert "  log: outputs/attempts/b-bookworm/" in said
    (attempt,) = Store(folder / "outputs").attempts("b-bookworm")
    assert sorted(path.name for path in attempt.iterdir()) == ["build.log", "failure.json"]


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)])
def test_a_killed_build_leaves_no_process_and_starts_clean(folder, number):
    build = plan(folder, "bookworm", "7.8.3")
    job = start(folder, build)
    children = _children(job.pid)
    os.kill(job.pid, number)
    job.communicate(timeout=LONG)
    _, alive = psutil.wait_procs(children, timeout=SOON)
    assert alive == []
    status, said = make(folder, build)
    assert status == 0, said
    (attempt,) = Store(folder / "outputs").attempts(build)
    failure = json.loads((attempt / "failure.json").read_text())
    assert failure["status"] == "interrupted"
    assert sorted(path.name for path in attempt.iterdir()) == ["build.log", "failure.json"]


def _children(pid):
    """apt-get and its helpers, as soon as it is at work."""
    return until(lambda: found if len(found := psutil.Process(pid).children(recursive=True)) > 1 else [])
