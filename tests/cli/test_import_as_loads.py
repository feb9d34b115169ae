"""stepgrid import --as-loads: what another host measured of the same stages counts beside what was measured here."""

import json
import os
import random
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench import synthetic
from stepgrid.cli import main
from stepgrid.host.files import write_json
from stepgrid.model.records import plain, replace
from stepgrid.model.status import MEASURES, Status
from stepgrid.plan import plan_file
from stepgrid.store import stage_requests
from stepgrid.store.results import result_checksums
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan, run_request
from stepgrid_share import commands as transfer
from stepgrid_share.results import ExportOptions, export_results

SPEC = """\
title: a team
builds: {rocksdb: {engine: rocksdb, versions: [7.8.3, 9.10.0], source: {debian: rocksdb-tools, suite: sid}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting]}
params: {keys: 200k, duration: 60m, threads: 1}
repeat: 3
allow: {defaults-differ: a test, load-not-drained: a test, writer-unlimited: a test}
"""
MINE, THEIRS, OTHERS = synthetic.ATTEMPT, "20260102T000000.000000Z", "20260103T000000.000000Z"


def enter(folder, monkeypatch, spec=SPEC):
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    Path("a.yaml").write_text(spec)
    run_request.requested_plan.cache_clear()
    return host_plan.compile_for_host("a.yaml", None)


def planned():
    return host_plan.compile_for_host("a.yaml", None)


def measure(plan, host, time, monkeypatch):
    monkeypatch.setattr(synthetic, "HOST", {**synthetic.HOST, "hostname": host})
    monkeypatch.setattr(synthetic, "ATTEMPT", time)
    monkeypatch.setattr(synthetic, "random", SimpleNamespace(Random=lambda text: random.Random(f"{text} {host}")))
    results = synthetic.Results(Store(), plan, 5)
    for build in plan.builds:
        results.build(build.id, build.name)
    run_request.remaining_work(plan, Store())
    for stage in plan.stages:
        results.result(stage)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch, capsys):
    """Measures the spec in a checkout of its own, and exports it."""

    monkeypatch.setattr(transfer, "update_report", lambda *_: None)  # takes seconds

    def measured(name, time, spec=SPEC):
        plan = enter(tmp_path / name, monkeypatch, spec)
        measure(plan, name, time, monkeypatch)
        return export(tmp_path / f"{name}.tar.gz", capsys)

    return measured


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Enters a checkout in which all of the spec is measured."""

    def entered():
        plan = enter(tmp_path / "here", monkeypatch)
        measure(plan, "here", MINE, monkeypatch)
        return plan

    return entered


def export(file, capsys, *more):
    assert main(["export", "a.yaml", str(file), *more]) == 0, capsys.readouterr().err
    return file


def imported(file, capsys):
    capsys.readouterr()
    assert main(["import", str(file), "--as-loads"]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def report(capsys):
    capsys.readouterr()
    assert main(["report", "a.yaml", "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def loads(document):
    return [figure["loads"]["measured"] for figure in document["figures"]]


def results_of(plan):
    return {f"{stage.id}/{result.name}" for stage in plan.stages for result in Store().results(stage.id)}


def test_a_report_is_over_the_loads_of_all_hosts(elsewhere, here, capsys):
    file = elsewhere("theirs", THEIRS)
    plan = here()
    before, mine = report(capsys), results_of(plan)
    assert loads(before) == [3] * 4
    output = imported(file, capsys)
    assert re.search(
        r"^3 loads of host-[0-9a-f]{10} beside those of this checkout\nimported 12 results\n", output, re.M
    )
    after = report(capsys)
    assert loads(after) == [6] * 4
    assert [len(case["ratios"]) for case in after["comparisons"]] == [6] * len(before["comparisons"])
    assert all(case["not_comparable"] is None for case in after["comparisons"])
    assert all(
        case["ratios"][:3] == old["ratios"]
        for case, old in zip(after["comparisons"], before["comparisons"], strict=True)
    )
    assert all(case["ratios"][3:] != case["ratios"][:3] for case in after["comparisons"])
    assert results_of(plan) == mine, "those of this checkout are what they were"
    assert main(["report", "a.yaml", "--format", "markdown"]) == 0
    assert "6 fresh loads (3 imported, of 1 host)" in capsys.readouterr().out


def test_nothing_of_it_is_measured_removed_or_added_twice(elsewhere, here, capsys):
    file = elsewhere("theirs", THEIRS)
    here()
    imported(file, capsys)
    plan, results = planned(), results_of(planned())
    assert len(plan.stages) == len(results) == 24
    assert "imported 0 results\nalready here: 12 results\n" in imported(file, capsys)
    assert results_of(planned()) == results
    assert planned().digest == plan.digest
    assert {node.status for node in StatusReader(Store(), plan).read().stages} == {Status.DONE}
    assert main(["gc", "a.yaml", "--yes"]) == 0
    assert results_of(planned()) == results
    capsys.readouterr()
    assert main(["redo", "a.yaml", "--load"]) == 0
    output = capsys.readouterr().out
    assert "12 stages imported as loads of other hosts: not measured again here\n" in output
    assert "the next run measures 12 stages again" in output
    assert not {stage.id for stage in plan.stages if stage.origin} & {*stage_requests.pending_redos(Store())}


def test_what_an_import_put_in_the_place_of_ours_counts_beside_it_again(elsewhere, here, capsys):
    file = elsewhere("theirs", THEIRS)
    plan = here()
    capsys.readouterr()
    assert main(["import", str(file)]) == 0
    assert f"\n`stepgrid import {file} --as-loads` has both count: " in capsys.readouterr().out
    assert {Store().result(stage.id).name for stage in plan.stages if not stage.origin} == {THEIRS}
    output = imported(file, capsys)
    assert "12 results of an earlier import retracted: it counted instead of what was measured here" in output
    assert {Store().result(stage.id).name for stage in plan.stages} == {MINE}
    assert [len(cell.repeats) for cell in planned().cells] == [6, 6]
    assert "retracted" not in imported(file, capsys)


def test_a_load_whose_result_is_retracted_or_lost_counts_no_more_and_is_not_measured_here(elsewhere, here, capsys):
    file = elsewhere("theirs", THEIRS)
    here()
    imported(file, capsys)
    plan = planned()
    first, second = (cell.repeats[3].stages[-1] for cell in plan.cells)
    assert main(["retract", f"{first}/{THEIRS}", "--why", "a test"]) == 0
    assert [len(cell.repeats) for cell in planned().cells] == [5, 6]
    (result,) = Store().results(second)
    (result / "steps" / "0-readww" / "stdout").unlink()
    (result / "result.json").write_text("{}")
    status = StatusReader(Store(), plan).read()
    assert {node.id for node in status.stages if node.status is Status.ELSEWHERE} == {first, second}
    assert "import it again" in status.nodes[second].sentence
    assert not [node.id for node in status.nodes.values() if node.action in MEASURES]
    assert main(["retract", f"{first}/{THEIRS}", "--undo"]) == 0
    assert len(planned().cells[0].repeats) == 6


def test_only_whole_loads_of_one_host_are_taken(elsewhere, here, capsys):
    elsewhere("theirs", THEIRS)
    plan = planned()
    (moved,) = Store().results(plan.cells[0].repeats[1].stages[-1])
    record = json.loads((moved / "attempt.json").read_text())
    write_json(moved / "attempt.json", {**record, "host": {**record["host"], "hostname": "another"}})
    record = json.loads((moved / "result.json").read_text())
    write_json(moved / "result.json", {**record, "files": plain(result_checksums(moved))})
    file = export(Path.cwd().parent / "moved.tar.gz", capsys)
    here()
    output = imported(file, capsys)
    assert "imported 10 results\n" in output
    assert "left out: 2 results of loads that no host measured as a whole\n" in output
    assert [len(cell.repeats) for cell in planned().cells] == [5, 6]


def test_a_bundle_cannot_pass_results_off_as_those_of_another_host(elsewhere, here, tmp_path, capsys):
    others = elsewhere("others", OTHERS)
    elsewhere("theirs", THEIRS)
    imported(others, capsys)
    plan = planned()
    origin = next(stage.origin for stage in plan.stages if stage.origin)
    for number, name in enumerate(("host-0000000000", "\x1b[2Jbench")):
        renamed = [replace(stage, origin=name) if stage.origin == origin else stage for stage in plan.stages]
        forged = replace(plan, stages=tuple(renamed), digest="")
        forged = replace(forged, digest=plan_file.digest(forged))
        file = tmp_path / f"forged{number}.tar.gz"
        export_results(Store(), forged, file, ExportOptions())
        here() if not number else os.chdir(tmp_path / "here")
        before = {path.name for path in Store().root.glob("results/*")}
        capsys.readouterr()
        assert main(["import", str(file), "--as-loads"]) == 3
        error = capsys.readouterr().err
        assert ("declares what has the id" in error) is (number == 0)
        assert ("an export gives hosts other names" in error) is (number == 1)
        assert "\x1b" not in error
        assert {path.name for path in Store().root.glob("results/*")} == before
        os.chdir(tmp_path / "theirs")
