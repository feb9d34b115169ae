"""What Snakemake sees is made again from what is there."""

import shutil
from pathlib import Path

import pytest

from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from tests.cli.bundles import measured, planned


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
