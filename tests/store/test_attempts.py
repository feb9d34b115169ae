"""Signs of life of jobs on other machines."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stepgrid.host import cluster_job
from stepgrid.host.files import write_json
from stepgrid.store import attempts
from stepgrid.store.paths import TIME_FORMAT
from tests.waiting import until


def test_on_a_cluster_the_time_of_the_record_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.delenv(cluster_job.ON, raising=False)
    record = tmp_path / "attempt.json"
    record.touch()
    os.utime(record, (0, 0))
    with attempts.heartbeat(tmp_path):
        time.sleep(0.05)
    assert record.stat().st_mtime == 0, "here the lock says it"
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)
    with attempts.heartbeat(tmp_path):
        until(lambda: record.stat().st_mtime > 0)


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
    young, old = attempt(tmp_path, 5), attempt(tmp_path, attempts.UNSEEN_SECONDS + 5)
    assert attempts.is_alive_elsewhere(young)
    assert not attempts.is_alive_elsewhere(old)
    monkeypatch.delenv(cluster_job.ON)
    assert not attempts.is_alive_elsewhere(young), "here a lock says it"


def test_a_record_of_another_machine_that_is_young(tmp_path: Path) -> None:
    folder = attempt(tmp_path, 1000)
    write_json(folder / "attempt.json", {"hostname": "n7"})
    assert attempts.is_alive_elsewhere(folder)
