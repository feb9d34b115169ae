"""Twice the cells or results take twice the work. Calls are counted, not seconds: other work of the host makes none."""

import gc
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from bench import budgets, measured
from stepgrid import pipeline
from stepgrid.cli import main
from stepgrid.store.store import Store
from stepgrid.workflow import run_request

FEW = 100
MOST = 2.2  # times the work of half as many
MOST_CALLS = 3_500_000  # 6.8 million when each step computed its options, each build its settings


@pytest.mark.parametrize("command", ["check", "plan", "plan, JSON", "run -n"])
def test_commands_are_linear_in_cells(command, tmp_path, monkeypatch):
    def run(cells):
        _enter(tmp_path / str(cells), cells, 1, monkeypatch)
        return _calls(lambda: main(budgets.OF_CELLS[command]))

    run(2)  # imports
    assert run(2 * FEW) <= MOST * run(FEW)


def test_steps_share_what_is_computed_of_their_layers(monkeypatch):
    monkeypatch.chdir(budgets.ROOT)
    post = "specs/posts/2025-11-sysbench-postgres.yaml"  # the one whose check takes longest
    assert _calls(lambda: main(["check", post])) < MOST_CALLS


def test_status_and_report_are_linear_in_results(tmp_path, monkeypatch):
    def run(cells):
        _enter(tmp_path / str(cells), cells, 2, monkeypatch)
        measured.make("a.yaml", has_summary=False)
        plan = next(Store().plan("_").parent.glob("[!.]*")).name
        return {
            "status": _calls(lambda: main(["status", "a.yaml"])),
            "collect": _calls(lambda: pipeline.collect(plan)),
            "summarize": _calls(lambda: pipeline.summarize(plan)),
            "results": _calls(lambda: main(["results", "a.yaml"])),
        }

    run(2)  # imports
    few, many = run(FEW), run(2 * FEW)
    assert {name: many[name] / few[name] for name in few if many[name] > MOST * few[name]} == {}


def _enter(folder, cells, loads, monkeypatch):
    folder.mkdir()
    monkeypatch.chdir(folder)
    values = ", ".join(map(str, range(cells)))
    Path("a.yaml").write_text(budgets.SPEC.format(values=values, loads=loads), encoding="utf-8")
    run_request.requested_plan.cache_clear()


def _calls(action):
    """Of functions, Python's and C's."""
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    gc.disable()
    with redirect_stdout(StringIO()), redirect_stderr(screen := StringIO()):
        sys.setprofile(count)
        try:
            status = action()
        finally:
            sys.setprofile(None)
            gc.enable()
    assert status == 0, screen.getvalue()
    return calls
