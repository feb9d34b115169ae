import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.build.__main__ import main

ROOT = Path(__file__).resolve().parents[2]


def test_usage(capsys: pytest.CaptureFixture[str]):
    assert main(["p-1"]) == 2
    assert capsys.readouterr().err == "usage: python -m stepgrid.build PLAN BUILD\n"


def test_a_plan_that_is_gone(tmp_path: Path):
    argv = [sys.executable, "-m", "stepgrid.build", "p-1", "b-1"]
    done = subprocess.run(
        argv, cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "compiler")}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "there is no build b-1 in outputs/plans/p-1: compile the spec again\n"
    assert not (tmp_path / "outputs").exists()


def test_a_job_imports_nothing_heavy():
    code = "import sys, stepgrid.build.__main__; print(*sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "compiler")}, capture_output=True, text=True
    )
    assert {"pydantic", "ruamel", "numpy", "scipy", "duckdb", "jinja2", "snakemake"}.isdisjoint(done.stdout.split())
