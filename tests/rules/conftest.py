"""A checkout in a temporary folder: the real Snakefile, rules, profile and store; sleeping jobs instead of engines."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import forked, waiting

ROOT = Path(__file__).resolve().parents[2]
TOY = Path(__file__).resolve().parent / "toy"
SPEC = {"builds": ["p", "q"], "arms": ["a", "b"], "loads": 2, "seconds": 0.05}


@dataclass(frozen=True, slots=True)
class Checkout:
    folder: Path

    def write_spec(self, name="spec.json", **changes):
        (self.folder / name).write_text(json.dumps(SPEC | changes))

    def argv(self, *arguments, spec="spec.json"):
        return [sys.executable, "-m", "snakemake", "--config", f"spec={spec}", *arguments]

    def snakemake(self, *arguments, spec="spec.json"):
        return self.forked(self.argv(*arguments, spec=spec))

    def stepgrid_run(self, *arguments):
        return self.forked([sys.executable, "stepgrid_run.py", *arguments])

    def forked(self, argv):
        return forked.execute(argv, self.folder, _env(), waiting.LONG)

    def execute(self, argv, **env):
        return subprocess.run(
            argv,
            cwd=self.folder,
            env=_env() | env,
            stdin=subprocess.DEVNULL,
            text=True,
            capture_output=True,
            timeout=waiting.LONG,
        )

    def start(self, argv, screen="screen"):
        """In a process group of its own, as a shell would start it."""
        with (self.folder / screen).open("w") as file:
            return subprocess.Popen(
                argv, cwd=self.folder, env=_env(), text=True, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            )  # fmt: skip

    @property
    def screen(self):
        return (self.folder / "screen").read_text()

    @property
    def log(self):
        path = self.folder / "log"
        return path.read_text().splitlines() if path.exists() else []

    def logged(self, verb):
        return [line.split()[1] for line in self.log if line.startswith(f"{verb} ")]

    def forget_log(self):
        (self.folder / "log").unlink(missing_ok=True)

    def results(self):
        """Every file of results/ and builds/ with its inode: what may never change."""
        kept = (path for top in ("results", "builds") for path in (self.folder / "outputs" / top).rglob("*"))
        return {str(path): path.stat().st_ino for path in kept if path.is_file()}


def _env():
    return {**os.environ, "PYTHONPATH": "compiler", "COLUMNS": "200"}


REAL = ROOT / "compiler" / "stepgrid"
PIPELINE = """\
import runpy, sys

if __name__ == "__main__":
    verb = sys.argv.pop(1).removesuffix("-stage")
    for job in ("collect", "summarize") if verb == "report" else (verb,):
        runpy.run_module("stepgrid.toy_" + job, run_name="__main__")
else:
    globals().update(runpy.run_path({real!r}, run_name=__name__))
"""  # the real one, whose jobs are toys
ASSEMBLY = """\
import runpy

globals().update(runpy.run_path({real!r}, run_name=__name__))
from stepgrid.plan.toy_assembly import compile_spec
"""  # the real one, but for the compiler of specs


def _overlay(folder):
    """A package `stepgrid` in which a few modules are toys, and all others the real ones."""
    for part in ("", "plan", "summarize"):
        package = folder / "compiler" / "stepgrid" / part
        package.mkdir(parents=True)
        behind = str(ROOT / "compiler" / "stepgrid" / part)
        (package / "__init__.py").write_text(f"import os\n__path__ = [os.path.dirname(__file__), {behind!r}]\n")
    for job in ("build", "run", "collect", "summarize"):
        shutil.copy(TOY / f"{job}.py", folder / "compiler" / "stepgrid" / f"toy_{job}.py")
    (folder / "compiler" / "stepgrid" / "pipeline.py").write_text(PIPELINE.format(real=str(REAL / "pipeline.py")))
    shutil.copy(ROOT / "compiler" / "stepgrid" / "package.py", folder / "compiler" / "stepgrid")
    for package in (ROOT / "compiler").glob("stepgrid_*"):
        (folder / "compiler" / package.name).symlink_to(package)
    shutil.copy(TOY / "assembly.py", folder / "compiler" / "stepgrid" / "plan" / "toy_assembly.py")
    (folder / "compiler" / "stepgrid" / "plan" / "assembly.py").write_text(
        ASSEMBLY.format(real=str(REAL / "plan" / "assembly.py"))
    )


def _make(folder):
    folder.mkdir()
    shutil.copy(ROOT / "Snakefile", folder)
    for name in ("profiles", "templates", "workflow"):
        shutil.copytree(ROOT / name, folder / name)
    _overlay(folder)
    (folder / "stepgrid_run.py").write_text(
        "import sys\nfrom stepgrid.cli import main\nsys.exit(main(['run', *sys.argv[1:]]))\n"
    )
    checkout = Checkout(folder)
    checkout.write_spec()
    return checkout


@pytest.fixture
def checkout(tmp_path):
    return _make(tmp_path / "checkout")


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory):
    """The first run of a checkout, and how it ended: only to be looked at."""
    checkout = _make(tmp_path_factory.mktemp("finished") / "checkout")
    ended = checkout.snakemake()
    assert ended.returncode == 0, ended.stderr
    return checkout, ended


@pytest.fixture
def finished(whole_run, checkout):
    """A checkout in which everything is measured already."""
    for name in ("outputs", ".snakemake"):
        shutil.copytree(whole_run[0].folder / name, checkout.folder / name, symlinks=True)
    return checkout


@pytest.fixture
def until():
    return waiting.until
