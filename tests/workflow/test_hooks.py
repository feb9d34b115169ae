"""Hooks around a run: the lock of the checkout, signals to jobs, and the next round of loads."""

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from stepgrid.workflow.hooks import can_restart, child_pids, signal_children
from tests.cli.bundles import measured, planned


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


def test_lost_marks_of_results_and_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(tmp_path, monkeypatch)
    plan, store = planned(), Store()
    marks = store.mark("_").parent
    shutil.rmtree(marks, ignore_errors=True)
    run_request.remaining_work(plan, store).restore_marks()
    expected = {stage.id: (store.result(stage.id) or tmp_path) / "result.json" for stage in plan.stages}
    expected |= {build.id: store.build(build.id) / "build.json" for build in plan.builds}
    assert {mark.name: mark.resolve() for mark in marks.iterdir()} == {
        node: path.resolve(strict=True) for node, path in expected.items()
    }
