"""Steps: live grids, times, warm-ups, searches, and stages without steps."""

from pathlib import Path

import pytest

from stepgrid.expand.search import AxisSearch
from stepgrid.language.problems import SpecError, format_problems
from stepgrid.model.plan import Plan
from stepgrid.plan.assembly import CompileContext, compile_spec
from stepgrid.plan.estimate import search_text
from tests.conftest import HOST
from tests.expand.samples import BASE, SWEEP, Compile, Complaints, ids


def test_a_live_grid_runs_on_one_database(compile_text: Compile) -> None:
    text = BASE.replace(
        "benchmarks: [readwhilewriting]", "benchmarks: [readwhilewriting], for: {threads: [1, 2], keys: [1k, 2k]}"
    )
    plan = compile_text(text)
    steps = [step for step in plan.cells[0].steps if step.stage == 1]
    assert [step.name for step in steps] == [
        "readww[threads=1,keys=1k]", "readww[threads=1,keys=2k]",
        "readww[threads=2,keys=1k]", "readww[threads=2,keys=2k]",
    ]  # fmt: skip
    assert {step.step for step in steps} == {"readww"}
    assert steps[2].variables == {"threads": "2", "keys": "1k"}
    (stage,) = (stage for stage in plan.stages if stage.id == plan.cells[0].repeats[0].stages[1])
    assert [(step.settings["threads"], step.settings["keys"]) for step in stage.steps] == [
        (1, 1000), (1, 2000), (2, 1000), (2, 2000),
    ]  # fmt: skip
    assert len({step.seed for step in stage.steps}) == 4


def test_times(compile_text: Compile) -> None:
    plan = compile_text(BASE.replace("benchmarks: [readwhilewriting]", "benchmarks: [readwhilewriting], times: 3"))
    assert [step.name for step in plan.cells[0].steps] == ["fillseq", "readww.1", "readww.2", "readww.3"]


def test_a_warm_up_runs_before_each_run_and_is_not_measured(compile_text: Compile) -> None:
    more = "benchmarks: [readwhilewriting], times: 2, warmup: 5s"
    probes = "probes: [{name: p, before: [readww], command: [ls]}]\n"
    plan = compile_text(BASE.replace("benchmarks: [readwhilewriting]", more) + probes)
    steps = [step for stage in plan.stages for step in stage.steps if step.name.startswith("readww")][:4]
    assert [step.name for step in steps] == ["readww.1.warmup", "readww.1", "readww.2.warmup", "readww.2"]
    assert [(step.measured, step.settings["duration"]) for step in steps] == [(False, 5), (True, 1)] * 2
    assert [bool(step.setup.before) for step in steps] == [False, True] * 2


# Searches on live grids: the steps that they stand for, and what is wrong with them


BENCHMARKS = "benchmarks: [readwhilewriting]"


def search_spec(grid: str) -> str:
    return BASE.replace(BENCHMARKS, f"{BENCHMARKS}, for: {{{grid}}}")


def test_each_point_is_a_step(compile_text: Compile):
    plan = compile_text(search_spec("threads: {search: [1, 64], for: max qps, points: 4}, keys: [1k, 2k]"))
    steps = [step for stage in plan.stages for step in stage.steps if step.name.startswith("readww")][:8]
    assert [step.name for step in steps[:3]] == [
        "readww[threads=#1,keys=1k]", "readww[threads=#1,keys=2k]", "readww[threads=#2,keys=1k]",
    ]  # fmt: skip
    assert {step.settings["threads"] for step in steps} == {1}
    assert AxisSearch.from_setup(steps[2].setup) == AxisSearch("threads", "threads", 1, 64, "max qps", 4, 2)
    said = {"step": "readww", "variable": "threads", "param": "threads", "least": 1, "most": 64, "for": "max qps"}
    assert plan.searches == ({**said, "points": 4},)
    assert search_text(plan.searches[0]) == "readww: threads from 1 to 64, 4 points of each load, for `max qps`"


def test_under_a_name_of_its_own(compile_text: Compile):
    grid = 'rate: {param: write_rate, search: [1MiB, 512MiB], for: "max rate where stall_pct < 1 and p99_us < 99"}'
    plan = compile_text(search_spec(grid))
    (search,) = plan.searches
    assert (search["least"], search["most"], search["points"]) == (2**20, 2**29, 10)
    assert search_text(search) == (
        "readww: rate from 1 MiB to 512 MiB, 10 points of each load, for `max rate where stall_pct < 1 and p99_us < 99`"
    )
    step = next(step for stage in plan.stages for step in stage.steps if step.name == "readww[rate=#10]")
    assert step.settings["write_rate"] == 2**20


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


# Checkpoints that no step stands between


def test_a_stage_whose_steps_all_drop_out_is_none(compile_text: Compile) -> None:
    between = "  - {name: mid, kind: db_bench, benchmarks: [flush], when: \"version < '1'\"}\n  - checkpoint: second\n"
    last = "  - {name: readww"
    plan = compile_text(BASE.replace(last, between + last))
    assert [len(cell.repeats[0].stages) for cell in plan.cells] == [2, 2]
    assert ids(plan) == ids(compile_text(BASE))


def narrowed(tmp_path: Path, only: str | None = None, sets: tuple[str, ...] = ()) -> Plan:
    (tmp_path / "a.yaml").write_text(BASE + SWEEP)
    return compile_spec(str(tmp_path / "a.yaml"), None, HOST, context=CompileContext(only, sets))


def test_only(tmp_path: Path) -> None:
    whole, some = narrowed(tmp_path), narrowed(tmp_path, "cache == 'lru' and build == 'rocksdb-7.8.3'")
    assert len(some.cells) == 1
    assert ids(some) < ids(whole)
    with pytest.raises(SpecError) as caught:
        narrowed(tmp_path, "cach == 'lru'")
    assert str(caught.value.problems[0].where) == "--only:1:1"
    with pytest.raises(SpecError) as caught:
        narrowed(tmp_path, "cache == 'lrru'")
    said = "--only:1:1: error[empty-grid]: no cell is left\n   = `--only` holds for none of them"
    assert format_problems(caught.value.problems) == said


def test_sets_of_the_cells_that_are_left_out_are_no_fault(tmp_path: Path) -> None:
    text = """
title: t
builds:
  my: {engine: mysql, version: 8.0.31, source: {system: mysqld}}
  pg: {engine: postgres, version: 17.11, source: {system: postgres}}
options: [small, {shared_buffers: 1GB}]
define: {options: {small: {engine: mysql, options: {innodb_buffer_pool_size: 64MiB}}}}
steps: [{name: one, kind: sql, sql: [select 1]}]
"""
    (tmp_path / "b.yaml").write_text(text)
    assert len(compile_spec(str(tmp_path / "b.yaml"), None, HOST, context=CompileContext("build == 'pg'")).cells) == 1
    (tmp_path / "b.yaml").write_text(text.replace("  my:", "  other: {extends: pg, version: 17.10}\n  #"))
    with pytest.raises(SpecError) as caught:
        compile_spec(str(tmp_path / "b.yaml"), None, HOST)
    assert [problem.message for problem in caught.value.problems] == [
        "no cell takes the option set `small`: it is for mysql"
    ]


def test_set(tmp_path: Path) -> None:
    plan = narrowed(tmp_path, sets=("params.keys=2k", "repeat=2", "sweep.cache.points.lru=null"))
    assert {step.settings["keys"] for stage in plan.stages for step in stage.steps} == {2000}
    assert (len(plan.cells), len(plan.cells[0].repeats)) == (2, 2)
    for wrong, said in (("params.kes=1", "no step takes the param `kes`"), ("params", "`params` is not PATH=VALUE")):
        with pytest.raises(SpecError) as caught:
            narrowed(tmp_path, sets=(wrong,))
        assert said in format_problems(caught.value.problems)


def test_set_adds_an_option_over_the_others(tmp_path: Path) -> None:
    more = ("options=[{c: 1, b: 1}]", "options.b=2", "sweep.cache.points.lru.options.d=3")
    plan = narrowed(tmp_path, "cache == 'lru'", more)
    last = next(step.options for stage in plan.stages for step in stage.steps if step.name == "readww")
    assert {name: last[name].value for name in last} == {"a": 1, "b": 2, "c": 1, "d": 3}
