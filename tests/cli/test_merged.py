"""Results of two machines, or of two halves of one grid, become one report: the one that is imported last counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench import synthetic
from stepgrid.cli import main
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.model.status import Status
from stepgrid.store.store import Store
from stepgrid.summarize.report_files import current_report
from stepgrid.workflow import host_plan, run_request

Capture = pytest.CaptureFixture[str]
HALVES = """\
title: two halves
builds: {rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, suite: sid}}}
steps: [{name: readww, kind: db_bench, benchmarks: [readwhilewriting]}]
params: {keys: 200k, duration: 60m, threads: 1}
"""
MACHINES = (
    HALVES
    + """\
define:
  hardware:
    small: {id: small, cores: 4096}
    large: {id: large, cores: 8192}
sweep: {machine: {points: {small: {hardware: small}, large: {hardware: large}}}}
"""
)
LATER = "20260102T000000.000000Z"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Plan]:
    """Enters one; the plan of its spec."""

    def enter(name: str, spec: str) -> Plan:
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        Path("a.yaml").write_text(spec)
        run_request.requested_plan.cache_clear()
        plan = host_plan.compile_for_host("a.yaml", None)
        for build in plan.builds:
            synthetic.Results(Store(), plan, 5).build(build.id, build.name)
        return plan

    return enter


def measure(plan: Plan, stages: list[PlannedStage]) -> None:
    made = synthetic.Results(Store(), plan, 5)
    run_request.remaining_work(plan, Store())
    for stage in stages:
        made.result(stage)


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        (HALVES, lambda stage: stage.build),
        (MACHINES, lambda stage: stage.hardware),
    ],
    ids=["two halves of one grid", "two machines"],
)
def test_the_report_has_the_cells_of_both(
    checkout: Callable[[str, str], Plan],
    spec: str,
    part: Callable[[PlannedStage], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    plan = checkout("one", spec)
    parts = sorted({part(stage) for stage in plan.stages})
    first, second = ([stage for stage in plan.stages if part(stage) == each] for each in parts)
    measure(plan, first)
    assert main(["export", "a.yaml", "../one.tar.gz"]) == 0
    assert checkout("two", spec) == plan
    measure(plan, second)
    monkeypatch.setattr(synthetic, "ATTEMPT", LATER)
    measure(plan, first[:1])  # by both
    store = Store()
    assert current_report(store, plan).notes.coverage.counts[Status.DONE] == len(second) + 1
    assert main(["import", "../one.tar.gz"]) == 0
    assert f"imported {len(first)} result" in capsys.readouterr().out
    assert current_report(store, plan).notes.coverage.counts == {
        **dict.fromkeys(Status, 0),
        Status.DONE: len(plan.stages),
    }
    assert main(["results", "a.yaml"]) == 0
    of_both = capsys.readouterr().out.split(f"{first[0].id}  ")[1].split("\ns-")[0]
    assert [line.split()[0] for line in of_both.splitlines()[1:]] == ["older", "counts"]
