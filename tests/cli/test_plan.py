"""stepgrid plan, against a store whose results are put there by hand; the engines are another test's."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import msgpack

from stepgrid.cli import main
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.plan import identity
from stepgrid.plan.plan_file import PLAN_FILE
from stepgrid.store import plans
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.cli.samples import SPEC
from tests.golden import Golden

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("folder")


def kept(spec: str = "a.yaml") -> Plan:
    """The plan, as a run keeps it."""
    plan = host_plan.compile_for_host(spec, None)
    target = Store().plan(plan.digest)
    target.parent.mkdir(parents=True, exist_ok=True)
    plans.write(plan, target)
    return plan


def measured(plan: Plan, stages: Sequence[PlannedStage], seconds: int = 30, **more: Any) -> None:
    for stage in stages:
        folder = Store().root / "results" / stage.id / "20260101T000000.000000Z"
        for index, step in enumerate(stage.steps):
            (folder / "steps" / f"{index}-{step.name}").mkdir(parents=True)
        times = {
            "started": "2026-01-01T00:00:00+00:00",
            "ended": f"2026-01-01T00:00:{seconds:02}+00:00",
            "seconds": seconds,
        }
        record = {
            "stage": stage.id,
            "status": "done",
            "reason": None,
            **times,
            "seconds": seconds,
            **more,
            "steps": [{}] * len(stage.steps),
        }
        (folder / "result.json").write_text(json.dumps(record, indent=1))
        (folder / "attempt.json").write_text(json.dumps({"plan": plan.digest}))


def with_image(stage: PlannedStage, size: int) -> None:
    folder = Store().image(stage.id)
    folder.mkdir(parents=True)
    (folder / "image.json").write_text(json.dumps({"stage": stage.id, "bytes": size, "files": {}}, indent=1))


def built(plan: Plan) -> None:
    for build in plan.builds:
        folder = Store().build(build.id)
        folder.mkdir(parents=True)
        (folder / "build.json").write_text("{}")


def loads(plan: Plan) -> list[PlannedStage]:
    return [stage for stage in plan.stages if stage.parent is None]


def told(capsys: Capture, *arguments: str) -> str:
    assert main(["plan", "a.yaml", *arguments]) == 0
    return capsys.readouterr().out


def as_json(capsys: Capture) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(capsys, "--format", "json"))
    return found


def test_a_new_spec(capsys: Capture, golden: Golden) -> None:
    text = told(capsys)
    golden(text)
    assert max(map(len, text.splitlines())) <= 100


def test_what_builds_take_from_the_network_and_where_a_mirror_stands_in(folder: Path, capsys: Capture) -> None:
    (folder / "mirror").mkdir()
    (folder / "site.yaml").write_text('mirrors: {"https://github.com/facebook/": mirror}\n')
    source = 'builds.rocksdb.source={maven: "org.rocksdb:rocksdbjni"}'
    fetch = "  fetch    maven org.rocksdb:rocksdbjni, git https://github.com/facebook/rocksdb.git"
    assert fetch in told(capsys, "--set", source).splitlines()
    assert f"{fetch} (mirror)" in told(capsys, "--set", source, "--site", "site.yaml").splitlines()


def test_all_measured(capsys: Capture, golden: Golden) -> None:
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    golden(told(capsys))


def test_an_edit_says_old_and_new_and_where(folder: Path, capsys: Capture, golden: Golden) -> None:
    (folder / "a.yaml").write_text(SPEC + "options: [{cache_size: 1GiB}]\n")
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    for load in loads(plan):
        with_image(load, 3 * 2**20)
    (folder / "a.yaml").write_text(SPEC + "options: [{cache_size: 2GiB}]\n")
    golden(told(capsys))


def test_replayed_failed_and_unsupported(folder: Path, capsys: Capture) -> None:
    plan = kept()
    built(plan)
    first, second = loads(plan)
    measured(plan, [first])
    measured(plan, [second], status="unsupported", reason="it has no option x")
    child = next(stage for stage in plan.stages if stage.parent == first.id)
    attempt = Store().new_attempt(child.id)
    (attempt / "failure.json").write_text(json.dumps({"status": "failed", "step": "readww", "message": "it died"}))
    text = told(capsys)
    assert "  status   3 done, 3 unsupported, 1 failed, 1 missing\n" in text
    assert "retry (failed): 1 stage, about 1h00m: readww: it died\n" in text
    assert "replay (done): 1 stage, about 30s: there is no image of its end state\n" in text
    assert "leave (unsupported): 3 stages: it has no option x" in text


def test_a_broken_result_is_none(folder: Path, capsys: Capture) -> None:
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    newest = Store().result(loads(plan)[0].id)
    assert newest is not None
    (newest / "result.json").write_text("{")
    text = told(capsys)
    assert "retry (interrupted): 1 stage, about 30s\n    the result outputs/results/" in text
    assert " is broken: result.json\n    cannot be read (Input data was truncated)" in text


def test_new_cells_and_further_repeats_are_told_apart(folder: Path, capsys: Capture) -> None:
    plan = kept()
    measured(plan, plan.stages)
    for load in loads(plan):
        with_image(load, 1)
    (folder / "a.yaml").write_text(SPEC.replace("[1, 2]", "[1, 2, 3]"))
    assert "measure: 2 stages, about 1m00s: a new cell" in told(capsys)
    (folder / "a.yaml").write_text(SPEC + "repeat: 2\n")
    assert "measure: 6 stages, about 3m00s: a further repeat" in told(capsys)


def test_a_result_of_another_spec_is_shared(folder: Path, capsys: Capture) -> None:
    (folder / "b.yaml").write_text(SPEC.replace("title: t", "title: another"))
    other = kept("b.yaml")
    measured(other, loads(other))
    found = {node["id"]: node for node in as_json(capsys)["nodes"]}
    assert (found[loads(other)[0].id]["state"], found[loads(other)[0].id]["action"]) == ("done", "replay")
    measured(other, [stage for stage in other.stages if stage.parent is not None])
    states = {node["id"]: (node["state"], node["because"]) for node in as_json(capsys)["nodes"]}
    assert {states[stage.id] for stage in other.stages} == {("done", "made by b.yaml")}
    assert "  status   6 done (6 by another spec), 2 missing\n" in told(capsys)


def test_json(folder: Path, capsys: Capture) -> None:
    (folder / "a.yaml").write_text(SPEC + "options: [{cache_size: 1GiB}]\nrepeat: 2\n")
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    (folder / "a.yaml").write_text(SPEC + "options: [{cache_size: 2GiB}]\nrepeat: 2\n")
    found = as_json(capsys)
    assert set(found) == {"spec", "scale", "plan", "title", "cells", "nodes", "abandoned", "totals", "warnings"}
    assert found["cells"][0] == {
        "id": found["cells"][0]["id"],
        "axes": {"build": "rocksdb-7.8.3", "threads": "1"},
        "repeats": 2,
    }
    node = next(node for node in found["nodes"] if node["kind"] == "stage")
    assert {key: node[key] for key in ("state", "action", "runs", "reasons", "seconds")} == {
        "state": "missing",
        "action": "measure",
        "runs": True,
        "reasons": [{"field": "options.cache_size", "old": 2**30, "new": 2**31, "where": "a.yaml:10:12"}],
        "seconds": 30.0,
    }
    totals = found["totals"]
    assert (totals["cells"], totals["builds"], totals["stages"]) == (4, 2, 12)
    assert (totals["seconds"], totals["saved_seconds"], totals["to_see_3_percent"]) == (360.0, 120.0, None)
    assert (totals["states"]["missing"], totals["actions"]["measure"], len(found["abandoned"])) == (12, 12, 12)


def test_the_spread_of_repeats_says_what_a_small_difference_needs(folder: Path, capsys: Capture) -> None:
    (folder / "a.yaml").write_text(SPEC + "repeat: 2\n")
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    for stage in plan.stages:
        figures = {"steps": [{"metrics": {"qps": 100.0 + 2 * stage.load}}]}
        path = Store().root / "results" / stage.id / "20260101T000000.000000Z" / "figures.0.msgpack"
        path.write_bytes(bytes(32) + msgpack.encode(figures))
    text = "loads differ by 1.4 % (readww): a difference of 3 % shows with 6 loads (18m00s), a verdict beyond"
    assert f"  repeats  {text[:70]}" in told(capsys)
    assert f" {text} 2 % with 35 loads " in " ".join(told(capsys).split()) + " "


def test_a_damaged_plan_is_no_plan(folder: Path, capsys: Capture) -> None:
    plan = kept()
    measured(plan, plan.stages)
    (Store().plan(plan.digest) / "plan.jsonl").write_text('{"spec": "a.yaml"}')
    (folder / "a.yaml").write_text(SPEC + "options: [{cache_size: 2GiB}]\n")
    assert "  status   8 missing\n" in told(capsys)


def test_no_heavy_import() -> None:
    import subprocess
    import sys

    root = Path(__file__).resolve().parents[2]
    code = "import sys; from stepgrid.cli import main; main(['plan', 'a.yaml']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(root / "compiler")}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not {"duckdb", "scipy", "snakemake", "numpy"} & set(done.stdout.split())


AXIS = "bloom: {option: bloom_bits, values: [5, 6], from: loaded}"


def test_why_says_what_the_new_axis_sets(folder: Path, capsys: Capture) -> None:
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    (folder / "a.yaml").write_text(SPEC.replace("sweep: {", f"sweep: {{{AXIS}, "))
    said = told(capsys)
    for value in (5, 6):
        assert f"measure: 4 stages, about 2m00s\n    options.bloom_bits: not set -> {value} (a.yaml:8:25)\n" in said
    assert "a new cell" not in said
    assert "  status   4 done, 8 missing\n" in said


def test_share_is_a_reason(folder: Path, capsys: Capture) -> None:
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    (folder / "a.yaml").write_text(SPEC + "share: false\n")
    lines = told(capsys).splitlines()
    assert "measure: 8 stages, about 4m00s" in lines
    assert lines[lines.index("measure: 8 stages, about 4m00s") + 1] == "    share: true -> false"
    apart = kept()
    measured(apart, apart.stages)
    (folder / "a.yaml").write_text(SPEC)
    for stage in plan.stages:
        shutil.rmtree(Store().root / "results" / stage.id)
    assert "    share: false -> true" in told(capsys).splitlines()


def test_the_cell_is_a_reason_where_nothing_is_shared(folder: Path, capsys: Capture) -> None:
    (folder / "a.yaml").write_text(SPEC + "share: false\n")
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    (folder / "a.yaml").write_text(SPEC.replace("from: loaded}}", "from: loaded}, x: {a: {}}}") + "share: false\n")
    assert "    axes of the cell (share: false): [build, threads] -> [build, threads, x]" in told(capsys).splitlines()


def test_start_launch_probes_and_collectors_are_reasons(folder: Path, capsys: Capture) -> None:
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    probe = "probes: [{name: files, after: [readww], command: [ls, -R, .]}]\n"
    more = "start: cold\nlaunch: {numa: interleave}\ncollectors: [{collector: pidstat, steps: readww}]\n"
    (folder / "a.yaml").write_text(SPEC + more + probe)
    text = told(capsys)
    for said in (
        "    launch.numa: not set -> interleave",
        "    start: not set -> cold",
        "    collectors.pidstat.collector: not set -> pidstat",
        "    probes.files.command: not set -> [ls, -R, .]",
        "    probes.files.when: not set -> after",
    ):
        assert said in text.splitlines()


def test_another_version_of_this_program_is_a_reason(capsys: Capture) -> None:
    """An id that another version made of the same inputs: nothing that is written down differs."""
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    file = Store().plan(plan.digest) / PLAN_FILE
    file.write_text(file.read_text().replace('"s-', '"s-0'))  # as if all of its stages had had other ids
    name = hashlib.sha256(file.read_bytes()).hexdigest()[: identity.LENGTH]
    file.parent.rename(file.parent.with_name(name))
    for folder in sorted((Store().root / "results").iterdir()):
        folder.rename(folder.with_name(f"s-0{folder.name[2:]}"))
    assert "no input differs that a plan records: another version of stepgrid planned the earlier result" in told(
        capsys
    )


WEAK = """\
title: t
builds: {mine: {engine: program, source: {system: sh}}}
steps: [{name: a, kind: command, argv: [x]}, {name: b, kind: command, argv: [y]}]
params: {durabilities: none os, durability: sync}
"""


def test_a_fault_of_several_steps_is_printed_once(folder: Path, capsys: Capture) -> None:
    (folder / "a.yaml").write_text(WEAK)
    assert main(["plan", "a.yaml"]) == 1
    assert capsys.readouterr().err.count("steps `a` and `b`: `durability`: expected none or os") == 1
