"""Hooks around a run: the lock of the checkout, signals to jobs, and the next round of loads."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from stepgrid.model.status import ActiveRun, Eta, PlanStatus
from stepgrid.workflow.hooks import Hooks, can_restart, child_pids, signal_children


def test_a_signal_where_snakemake_does_not_listen() -> None:
    code = (
        "import os, signal\n"
        "from stepgrid.workflow.hooks import Hooks\n"
        "Hooks(None).listen()\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (
        1,
        "stopped by SIGTERM: nothing that was measured is lost, the same command goes on from here\n",
    )


def test_how_long_a_run_took_is_without_its_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    stages = {"s-1": None, "s-2": None}
    hooks = Hooks(cast(Any, SimpleNamespace(lacking={"s-1", "s-2", "b-1"}, stages=stages)), began=415.0)
    run = ActiveRun(7, 0.0, "a.yaml", covers_plan=True, waited=300.0)  # for its turn, before it began
    status = PlanStatus(cast(Any, None), 0.0, run, {}, Eta(0.0), waited=840.0)
    assert hooks._duration_note(status) == "2 stages in 45s; waited 14m00s for another run"
    unqueued = replace(status, run=replace(run, waited=0.0), waited=46.0)
    assert hooks._duration_note(unqueued) == "2 stages in 8m59s; waited 46s for the host", "of no other run"
    assert hooks._duration_note(replace(status, run=None, waited=0.0)) == "2 stages in 9m45s"


def test_a_child_of_another_thread_is_signalled_too() -> None:
    children = [subprocess.Popen(["sleep", "60"])]
    thread = threading.Thread(target=lambda: children.append(subprocess.Popen(["sleep", "60"])))
    thread.start()
    thread.join()
    assert {child.pid for child in children} <= set(child_pids())
    signal_children(signal.SIGTERM)
    assert [child.wait(timeout=60) for child in children] == [-signal.SIGTERM] * 2


@pytest.mark.parametrize(
    ("module", "program", "words", "possible"),
    [
        ("snakemake.__main__", "x", ["python", "-m", "snakemake"], True),
        ("stepgrid.cli.__main__", "x", ["python", "-m", "stepgrid.cli", "run", "a.yaml"], True),
        (None, "/opt/bin/snakemake", ["python", "/opt/bin/snakemake"], True),
        (None, "mine.py", ["python", "mine.py"], False),  # a program that uses either would begin anew as a whole
        ("pytest.__main__", "x", ["python", "-m", "pytest"], False),
        (None, "snakemake", ["python", "snakemake", "--directory", "elsewhere"], False),
    ],
)
def test_only_a_command_of_ours_or_snakemakes_is_run_again(
    monkeypatch: pytest.MonkeyPatch, module: str | None, program: str, words: list[str], possible: bool
) -> None:
    spec = None if module is None else SimpleNamespace(name=module)
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__spec__=spec))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr(sys, "orig_argv", words)
    assert can_restart() is possible
