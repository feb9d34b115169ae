"""stepgrid import of what this checkout exported itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.store import stage_requests
from stepgrid.store.store import Store
from tests.cli.bundles import Capture, export, measured, planned, result


def test_what_was_asked_for_and_measured_is_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    measured(tmp_path, monkeypatch)
    stage = planned().stages[0]
    stage_requests.request_redo(Store(), stage.id, "a noisy neighbour")
    result(stage)
    assert stage_requests.pending_redos(Store()) == {}
    assert main(["import", str(export(capsys))]) == 0
    assert stage_requests.pending_redos(Store()) == {}


def test_an_import_says_whose_results_count_now(one: Path, two: Callable[[], Store], capsys: Capture) -> None:
    older = export(capsys)
    plan = planned()
    two()
    for stage in plan.stages[:1]:
        result(stage)
    assert main(["import", str(older)]) == 0
    behind = "of 1 stage the result that was here goes on to count: it is newer\n"
    assert behind in capsys.readouterr().out


def test_an_import_of_newer_results_says_that_they_count_now(
    one: Path, two: Callable[[], Store], capsys: Capture
) -> None:
    two()
    mine = [result(stage) for stage in planned().stages[:2]]
    os.chdir(one)
    for stage in planned().stages:
        result(stage)
    file = export(capsys).absolute()
    os.chdir(one.parent / "two")
    assert main(["import", str(file)]) == 0
    sentence = "of 2 stages the imported result counts now: it is newer than the one that was here, which is kept\n"
    assert sentence in capsys.readouterr().out
    assert all(folder.is_dir() for folder in mine)
    assert main(["import", str(file)]) == 0
    assert sentence not in capsys.readouterr().out, "nothing is new the second time"
