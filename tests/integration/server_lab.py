"""A folder where servers are run: builds of them, a plan of one stage, and what became of it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from stepgrid.model.plan import Option, Plan, PlannedBuild, PlannedReport, PlannedStage, PlannedStep
from stepgrid.store import plans
from stepgrid.store.store import Store
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Lab:
    folder: Path

    @property
    def store(self):
        return Store(self.folder / "outputs")

    def run(self, *argv, **env):
        return subprocess.run(
            [sys.executable, "-m", *argv], cwd=self.folder, env=self.environment(**env), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip

    def start(self, *argv, **env):
        with (self.folder / "screen").open("ab") as screen:
            command = [sys.executable, "-m", *argv]
            return subprocess.Popen(command, cwd=self.folder, env=self.environment(**env), stdout=screen, stderr=screen)

    def environment(self, **more):
        own = {"PYTHONPATH": str(ROOT / "compiler"), "STEPGRID_HOST_LOCK": str(self.folder / "lock")}
        return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **own, **more}

    def plan(self, name, step, build=None):
        """One stage of one step, on the build of that name."""
        (node,) = [path.name for path in self.store.root.glob("builds/*") if engine_of(path) == name]
        planned = PlannedBuild(build or node, name, name, "", {"system": name})
        stage = PlannedStage("s-1", f"{name}: {step.name}", planned.id, None, (), 0, 0, "h", (step,), 1.0, 0)
        plan = Plan("p", "t", "x", None, (), (), (planned,), (stage,), {"id": "h", "declared": False}, PlannedReport())
        shutil.rmtree(self.store.plan("p"), ignore_errors=True)
        plans.write(plan, self.store.plan("p"))

    def failure(self):
        return json.loads((self.store.attempts("s-1")[-1] / "failure.json").read_text())


def engine_of(build):
    return str(json.loads((build / "build.json").read_text())["engine"])


@contextmanager
def opened(built, folder, everywhere=False):
    """`everywhere`: in a folder that everyone may enter, else in one that only we may."""
    if everywhere:
        folder = Path(tempfile.mkdtemp(prefix="servers-"))
        folder.chmod(0o755)
    (folder / "outputs").mkdir()
    shutil.copytree(built, folder / "outputs" / "builds", copy_function=os.link, symlinks=True)
    yield Lab(folder)
    left = [process for process in psutil.process_iter() if _works_in(process, str(folder))]
    for process in left:
        process.kill()
    if everywhere:
        shutil.rmtree(folder)
    assert not left, f"processes were left behind: {left}"


def _works_in(process, folder):
    try:
        return process.status() != psutil.STATUS_ZOMBIE and any(folder in word for word in process.cmdline())
    except psutil.Error:
        return False


def sql(*statements, timeout=60.0, options=None):
    asked = {name: Option(value) for name, value in (options or {}).items()}
    settings = {"sql": list(statements), "timeout": timeout}
    return PlannedStep("ask", "sql", 1, settings, asked, 1)


def events(attempt):
    lines = (attempt / "journal.jsonl").read_text().splitlines()
    return {event["event"]: event for event in map(json.loads, lines)}


def server_of(lab):
    """The server's pid, once a step runs."""

    def found():
        journals = [path for path in lab.store.attempts("s-1") if (path / "journal.jsonl").exists()]
        return next((events(path)["server started"]["pid"] for path in journals if "started" in events(path)), None)

    return int(until(found))
