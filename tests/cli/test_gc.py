"""stepgrid gc: what it lists, moves to the trash, restores and deletes."""

import os
import subprocess
import sys

import pytest

from stepgrid.cli import main
from stepgrid.host.locks import locked
from stepgrid.store.store import Store
from tests.cli.samples import SPEC


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs").mkdir()
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "a.yaml").write_text(SPEC)


def put(kind, name):
    folder = Store().root / kind / name
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("action", ["--yes", "--restore"])
def test_a_run_stops_it(action, capsys):
    gone = put("results", "s-0")
    with locked(Store().lock("run")):
        assert main(["gc", action]) == 3
    said = f"this checkout is in use (pid {os.getpid()}): nothing was changed; try again later\n"
    assert capsys.readouterr().err == said
    assert gone.is_dir()


def test_what_a_job_uses_stays(capsys):
    put("results", "s-0")
    with locked(Store().lock("s-0")):
        assert main(["gc", "--yes"]) == 0
    assert capsys.readouterr().err == "outputs/results/s-0 stays: it is in use\n"


def test_as_a_program_it_ends_without_a_traceback():
    """The module of the command stood in the way of Python's own `gc`."""
    done = subprocess.run([sys.executable, "-m", "stepgrid.cli", "gc"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
