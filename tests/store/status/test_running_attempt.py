"""Whether a job on another machine is at work on an attempt, as its record and the folder's name tell."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stepgrid.host import cluster_job
from stepgrid.host.files import write_json
from stepgrid.store.paths import TIME_FORMAT
from stepgrid.store.status import running_attempt


def attempt(parent: Path, seconds: float) -> Path:
    """As old as that."""
    folder = parent / (datetime.now(UTC) - timedelta(seconds=seconds)).strftime(TIME_FORMAT)
    folder.mkdir()
    return folder


def test_a_folder_whose_record_is_not_seen_yet_is_of_a_job_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS may show a name some seconds before one that was made right after it."""
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)
    young, old = attempt(tmp_path, 5), attempt(tmp_path, running_attempt.UNSEEN + 5)
    assert running_attempt.is_alive_elsewhere(young)
    assert not running_attempt.is_alive_elsewhere(old)
    monkeypatch.delenv(cluster_job.ON)
    assert not running_attempt.is_alive_elsewhere(young), "here a lock says it"


def test_a_record_of_another_machine_that_is_young(tmp_path: Path) -> None:
    folder = attempt(tmp_path, 1000)
    write_json(folder / "attempt.json", {"hostname": "n7"})
    assert running_attempt.is_alive_elsewhere(folder)
