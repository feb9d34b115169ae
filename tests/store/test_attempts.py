"""Signs of life of jobs on other machines."""

import os
import time
from pathlib import Path

import pytest

from stepgrid.host import cluster_job
from stepgrid.store import attempts
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
