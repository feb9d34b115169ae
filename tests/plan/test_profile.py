"""The profile pass in a plan: stages of their own, from the same images, after all that is measured."""

from pathlib import Path

import pytest

from stepgrid.language.problems import Problems
from stepgrid.plan.assembly import CompileContext, compile_spec
from stepgrid.plan.order import LoadRecords
from stepgrid.plan.stage_tree import id_faults
from tests.conftest import HOST

SPEC = """\
title: two caches
builds: {rocksdb: {engine: rocksdb, version: 9.9.3, source: {system: db_bench}}}
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 5m}
  - {name: readrandom, kind: db_bench, benchmarks: [readrandom], duration: 20s}
params: {keys: 1M, threads: 1}
collectors: [{collector: vmstat, steps: readww}]
sweep:
  cache:
    from: loaded
    points: {lru: {options: {cache_type: lru_cache}}, hyper: {options: {cache_type: hyper_clock_cache}}}
repeat: {loads: 2, runs: 2}
"""


def collectors(plan, stage):
    steps = next(each for each in plan.stages if each.id == stage).steps
    return [list(step.setup.collectors) for step in steps]


@pytest.mark.parametrize("where", ["all", "readww", "changed"])
def test_what_is_measured_stays_as_it_is(compile_text, where):
    before = compile_text(SPEC)
    plan = compile_text(f"{SPEC}profile: {where}\n")
    assert plan.cells == before.cells
    assert {stage.id for stage in plan.stages} - plan.profiling == {stage.id for stage in before.stages}
    assert {stage.id: stage.rank for stage in before.stages}.items() <= {s.id: s.rank for s in plan.stages}.items()


def test_a_stage_is_profiled_once_per_load_after_all_that_is_measured(compile_text):
    plan = compile_text(f"{SPEC}profile: {{where: [readww], for: 10s, every: 50s}}\n")
    stages = {stage.id: stage for stage in plan.stages}
    assert len(plan.profile.stages) == 4  # two arms, two loads
    for measured, profiling in plan.profile.stages.items():
        one, other = stages[measured], stages[profiling]
        assert (one.parent, one.load, one.run, one.build) == (other.parent, other.load, other.run, other.build)
        assert [step.seed for step in one.steps] == [step.seed for step in other.steps]
        assert other.title == f"profile of {one.title}"
    assert max(stages[each].rank for each in stages.keys() - plan.profiling) < min(
        stages[each].rank for each in plan.profiling
    )
    profile = {
        "name": "profile",
        "collector": "perf_record",
        "for": 10.0,
        "every": 50.0,
        "after": 40.0,
        "frequency": 499,
    }
    assert collectors(plan, min(plan.profiling)) == [[profile], []]
    assert list(id_faults(plan)) == []


def test_a_short_step_is_recorded_from_its_first_quarter_on(compile_text):
    plan = compile_text(f"{SPEC}profile: readrandom\n")
    windows = collectors(plan, min(plan.profiling))[1][0]
    assert isinstance(windows, dict)
    assert windows["after"] == 5.0


def profiled(profile, wanted):
    """The plan with a report that asks for a step of the first cell's loads, and those loads' stages."""
    asked = compile_spec("a.yaml", None, HOST, Problems()).cells[0].repeats[0].stages[-1]
    Path("a.yaml").write_text(f"{SPEC}profile: {profile}\n", encoding="utf-8")
    records = LoadRecords(lambda _: 0, lambda _: False, lambda node: [wanted] if node == asked else [])
    plan = compile_spec("a.yaml", None, HOST, Problems(), CompileContext(loads=records))
    assert {tuple(map(bool, collectors(plan, stage))) for stage in plan.profiling} == {(True, False)}
    return plan, {repeat.stages[1] for repeat in plan.cells[0].repeats if not repeat.run}


@pytest.mark.parametrize("profile", ["changed", "{for: 10s}"])
def test_steps_that_differ_are_those_that_a_report_asked_for(profile, compile_text):
    compile_text(SPEC)
    plan, stages = profiled(profile, "readww")
    assert plan.profile is not None
    assert plan.adds_stages
    assert {*plan.profile.stages} == stages


def test_a_step_that_is_named_is_profiled_alone(compile_text):
    compile_text(SPEC)
    profiled("readww", "readrandom")
