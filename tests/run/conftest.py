import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stepgrid.model.plan import Plan, PlannedBuild, PlannedReport, PlannedStage, PlannedStep
from stepgrid.model.records import replace
from stepgrid.store import plans
from stepgrid.store.store import Store
from tests import forked, waiting

ROOT = Path(__file__).resolve().parents[2]
TRIAL = Path(__file__).with_name("trial.py")
BUILD = PlannedBuild("b-1", "trial-1.0", "trial", "1.0", {"system": "python"})
LOAD = """
import os, sys
data = sys.argv[1]
os.makedirs(data + "/inner", exist_ok=True)
open(data + "/000001.sst", "w").write("s" * 5000)
open(data + "/inner/000002.sst", "w").write("t" * 700)
open(data + "/MANIFEST", "w").write("m" * 300)
print("loaded")
"""


def make_step(name="load", code=LOAD, options=None, **settings):
    return PlannedStep(name, "trial", 1, {"code": code, **settings}, options or {}, 7)


def make_stage(stage="s-load", *steps, parent=None, children=()):
    steps = steps or (make_step(),)
    return PlannedStage(stage, f"title of {stage}", "b-1", parent, tuple(children), 0, 0, "h", steps, 1.0, 0)


@dataclass
class Checkout:
    """A folder with outputs/, a plan in it, and the runner as a process of its own."""

    folder: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def store(self):
        return Store(self.folder / "outputs")

    def plan(self, *stages, builds=(BUILD,), hardware=None, machines=None):
        hardware = hardware or {"id": "h", "declared": False}
        machines = machines or {"h": hardware}
        ranked = tuple(replace(each, rank=rank) for rank, each in enumerate(stages))  # parents before their children
        plan = Plan(
            "p", "t", "spec.yaml", None, (), (), tuple(builds), ranked, hardware, PlannedReport(), machines=machines
        )
        self.store.root.mkdir(exist_ok=True)
        shutil.rmtree(self.store.plan("p"), ignore_errors=True)
        plans.write(plan, self.store.plan("p"))

    def build(self, build=BUILD, options=None, kind="int"):
        folder = self.store.build(build.id)
        folder.mkdir(parents=True, exist_ok=True)
        record = {"id": build.id, "version": build.version, "programs": {"python": [sys.executable], "none": ["gone"]}}
        (folder / "build.json").write_text(json.dumps(record))
        if options is not None:
            catalogue = {name: {"type": kind, "default": "0", "help": ""} for name in options}
            (folder / "catalogue.json").write_text(json.dumps(catalogue))

    def command(self, stage):
        return [sys.executable, str(TRIAL), "p", stage]

    def environment(self, **more):
        lock = str(self.folder / "host.lock")
        return {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "STEPGRID_HOST_LOCK": lock, **more}

    def run(self, stage, **env):
        """Run a stage in a fork; a test that changes how Python starts gets a process of its own."""
        argv, environment = self.command(stage), self.environment(**env)
        if argv[1] == str(TRIAL) and "PYTHONPATH" not in env:
            return forked.execute(argv, self.folder, environment, waiting.LONG, forked.STAGE)
        return subprocess.run(
            argv, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=waiting.LONG
        )

    def start(self, stage, **env):
        process = subprocess.Popen(
            self.command(stage), cwd=self.folder, env=self.environment(**env), stderr=subprocess.PIPE, text=True
        )
        self.started.append(process)
        return process

    def failure(self, stage):
        return read(self.store.attempts(stage)[-1] / "failure.json")

    def result(self, stage):
        found = self.store.result(stage)
        assert found is not None, f"{stage} has no result: {self.store.attempts(stage)}"
        return read(found / "result.json")

    def attempt(self, stage):
        found = self.store.result(stage)
        assert found is not None
        return read(found / "attempt.json")

    def live(self):
        folder = self.store.root / "live"
        return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


def read(path):
    return json.loads(path.read_text())


@pytest.fixture
def checkout(tmp_path):
    made = Checkout(tmp_path)
    made.build()
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def step():
    return make_step


@pytest.fixture
def stage():
    return make_stage


@pytest.fixture
def other_build():
    return replace(BUILD, id="b-2", name="trial-2.0", version="2.0")


@pytest.fixture
def until():
    return waiting.until


@pytest.fixture
def gone():
    """Whether a process has ended: it is not there, or a zombie that nobody has fetched."""

    def is_gone(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
        except OSError:
            return True

    return is_gone
