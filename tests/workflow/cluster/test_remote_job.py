"""Snakemake in a job of a cluster sees the plan of the run that started it, and touches nothing that this waits for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stepgrid.host import cluster_job
from stepgrid.workflow.cluster.remote_job import remote_work
from stepgrid.workflow.remaining_work import work
from stepgrid.workflow.run_request import Fault
from tests.run import finished


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")


def test_the_spec_may_change_while_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _store, plan = finished.make(tmp_path / "bin")
    monkeypatch.setenv(cluster_job.PLAN, plan.digest)
    Path("spec.yaml").write_text("no spec any more")
    assert remote_work({"spec": "spec.yaml"}).plan == plan


def test_marks_that_the_run_waits_for_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On another machine nobody sees that the run holds its lock: it looks as if there was none."""
    store, plan = finished.make(tmp_path / "bin")
    monkeypatch.setenv(cluster_job.PLAN, plan.digest)
    mark = Path(work(plan, store).mark(plan.stages[0].id))
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.symlink_to(os.path.relpath(store.results(plan.stages[0].id)[0] / "result.json", mark.parent))
    remote_work({"spec": "spec.yaml"})
    assert mark.exists()
    work(plan, store)
    assert not mark.exists(), "the run that begins removes them"


def test_a_folder_that_is_not_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cluster_job.PLAN, "0123456789abcdef0123")
    with pytest.raises(
        Fault, match=r"^this node does not see the plan of the run \(.*: is the folder shared\?$"
    ) as caught:
        remote_work({"spec": "spec.yaml"})
    assert caught.value.status == 3


def test_an_executor_that_leaves_the_environment_behind(tmp_path: Path) -> None:
    _store, plan = finished.make(tmp_path / "bin")
    assert remote_work({"spec": "spec.yaml"}).plan.digest == plan.digest
