"""stepgrid from Python, over a real run."""

import subprocess
import sys
from pathlib import Path

import pytest

import stepgrid
from stepgrid.api import NoTables, SpecError

pytestmark = pytest.mark.integration
SPEC = """\
title: counting
builds: {shell: {engine: program, source: {system: sh}, flags: {programs: sh}}}
steps:
  - name: count
    kind: command
    argv: ["{program:sh}", "-c", "echo counts: {{ params.counts }}"]
    metrics: {qps: {pattern: "counts: ([0-9]+)", required: true}}
sweep: {n: {points: {few: {params: {counts: 10}}, many: {params: {counts: 20}}}}}
"""


def test_an_experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(SPEC)
    experiment = stepgrid.load("mine.yaml")
    assert [cell.labels["n"] for cell in experiment.plan().cells] == ["few", "many"]
    assert len(stepgrid.load("mine.yaml", only="n == 'many'", sets=["repeat=2"]).plan().stages) == 2
    with pytest.raises(NoTables, match=r"there are no tables in outputs/summary/\w+/tables: `stepgrid run` makes them"):
        experiment.results()
    done = subprocess.run([sys.executable, "-m", "stepgrid.cli", "run", "mine.yaml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = experiment.results("SELECT axis_n, qps FROM steps").order("qps").fetchall()
    assert rows == [("few", 10.0), ("many", 20.0)]
    assert experiment.results().filter("qps > 10").aggregate("count(*)").fetchall() == [(1,)]


def test_what_is_wrong_with_a_spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(SPEC + "paramz: {}\nrepeat: no\n")
    with pytest.raises(SpecError) as found:
        stepgrid.load("mine.yaml").plan()
    assert [str(problem.where) for problem in found.value.problems] == ["mine.yaml:9:1", "mine.yaml:10:9"]


def test_the_import_takes_nothing_else_along():
    code = "import sys, stepgrid; print(*(name for name in sys.modules if name.startswith('stepgrid')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first = ["stepgrid", "stepgrid.errors", "stepgrid.package"]
    assert sorted(done.stdout.split()) == first
