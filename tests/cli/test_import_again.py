"""stepgrid import of what this checkout exported itself."""

from __future__ import annotations

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
