"""Searches on live grids: the steps that they stand for, and what is wrong with them."""

from __future__ import annotations

import pytest

from stepgrid.model.search import AxisSearch
from stepgrid.plan import plan_file
from stepgrid.plan.estimate import search_text
from tests.expand.samples import BASE, Compile, Complaints

STEP = "benchmarks: [readwhilewriting]"
THREADS = "threads: {search: [1, 64], for: max qps}"


def spec(grid: str) -> str:
    return BASE.replace(STEP, f"{STEP}, for: {{{grid}}}")


def test_each_point_is_a_step(compile_text: Compile):
    plan = compile_text(spec("threads: {search: [1, 64], for: max qps, points: 4}, keys: [1k, 2k]"))
    steps = [step for stage in plan.stages for step in stage.steps if step.name.startswith("readww")][:8]
    assert [step.name for step in steps[:3]] == [
        "readww[threads=#1,keys=1k]", "readww[threads=#1,keys=2k]", "readww[threads=#2,keys=1k]",
    ]  # fmt: skip
    assert {step.settings["threads"] for step in steps} == {1}
    assert AxisSearch.of(steps[2].setup) == AxisSearch("threads", "threads", 1, 64, "max qps", 4, 2)
    said = {"step": "readww", "variable": "threads", "param": "threads", "least": 1, "most": 64, "for": "max qps"}
    assert plan.searches == ({**said, "points": 4},)
    assert search_text(plan.searches[0]) == "readww: threads from 1 to 64, 4 points of each load, for `max qps`"


def test_under_a_name_of_its_own(compile_text: Compile):
    grid = 'rate: {param: write_rate, search: [1MiB, 512MiB], for: "max rate where stall_pct < 1 and p99_us < 99"}'
    plan = compile_text(spec(grid))
    (search,) = plan.searches
    assert (search["least"], search["most"], search["points"]) == (2**20, 2**29, 10)
    assert search_text(search) == (
        "readww: rate from 1 MiB to 512 MiB, 10 points of each load, for `max rate where stall_pct < 1 and p99_us < 99`"
    )
    step = next(step for stage in plan.stages for step in stage.steps if step.name == "readww[rate=#10]")
    assert step.settings["write_rate"] == 2**20


def test_a_plan_without_searches_is_written_as_before(compile_text: Compile):
    assert '"searches"' not in "".join(line for _, lines in plan_file.texts(compile_text(BASE)) for line in lines)


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ("threads: {search: [64, 1], for: max qps}", "error[search-form]: `search: [64, 1]` is no range"),
        ("threads: {search: [0, 8], for: max qps}", "error[search-form]: `search: [0, 8]` is no range"),
        ("threads: {search: [a, 8], for: max qps}", "error[search-form]: `search: [a, 8]` is no range"),
        ("threads: {search: [1, 2, 3], for: max qps}", "`search`: expected at most 2 entries, found a list"),
        ("threads: {search: [1, 8]}", "error[missing-key]: `for` is missing"),
        ("threads: {search: [1, 8], for: max qps, points: 3}", "`points: 3` are too few to search with"),
        ("threads: {search: [1, 8], for: most qps}", "[search-form]: `most qps` is not what a search can be for"),
        ("threads: {search: [1, 8], for: max threads}", "[search-form]: `max threads` is always the end of its range"),
        ("threads: {search: [1, 8], for: max qqps}", "[undefined-name]: there is no metric `qqps` (step `readww`)"),
        ("threds: {search: [1, 8], for: max qps}", "error[unknown-setting]: `threds` is no setting of db_bench"),
        (f"{THREADS}, keys: {{search: [1, 9], for: max qps}}",
         "error[search-form]: step `readww` searches on 2 axes: one at a time"),
    ],
)  # fmt: skip
def test_refused(complaints: Complaints, grid: str, said: str):
    assert said in complaints(spec(grid))


def test_not_before_a_checkpoint(complaints: Complaints):
    text = BASE.replace("benchmarks: [fillseq]", f"benchmarks: [fillseq], for: {{{THREADS}}}")
    assert "searches before a checkpoint: what follows would start from another database each time" in complaints(text)


def test_a_command_has_a_placeholder_for_it(compile_text: Compile, complaints: Complaints):
    text = """\
title: a command
builds: {sh: {engine: program, version: 1, source: {system: sh}}}
steps:
  - name: run
    kind: command
    argv: ["{program:sh}", "-c", "echo qps: {clients}"]
    metrics: {qps: {pattern: 'qps: (\\d+)'}}
    for: {clients: {search: [1, 8], for: max qps, points: 4}}
"""
    assert len(compile_text(text).stages[0].steps) == 4
    wrong = complaints(text.replace("{clients}", "1"))
    assert "step `run` has neither a setting `clients` nor `{clients}`" in wrong
