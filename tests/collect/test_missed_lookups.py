"""A figure of lookups that missed keys which were loaded carries the rate that was expected, and a warning."""

from stepgrid.collect.job import with_expected_rates
from stepgrid.collect.step_figures import StepFigures
from stepgrid.model.plan import Options, PlannedStage, PlannedStep
from stepgrid.model.records import replace


def step(benchmark, **settings):
    return PlannedStep(benchmark, "db_bench", 1, {"benchmarks": [benchmark], "keys": 1000, **settings}, Options([]), 7)


def stage(node, parent, *steps):
    return PlannedStage(node, node, "b-1", parent, (), 0, 0, "h-1", steps, 1.0, 0)


def figures(found, **more):
    return StepFigures({"operations": 1e6, **({} if found is None else {"found_pct": found})}, **more)


LOAD = stage("s-load", None, step("fillseq", fresh=True))
READ = stage("s-read", "s-load", step("overwrite"), step("readrandom"))
STAGES = {each.id: each for each in (LOAD, READ)}


def test_as_many_as_were_loaded_need_no_word():
    overwrite, read = with_expected_rates(READ, STAGES, [figures(None), figures(99.5)])
    assert overwrite == figures(None)
    assert read == replace(figures(99.5), metrics={**figures(99.5).metrics, "found_expected_pct": 100.0})


def test_fewer_have_a_warning_behind_the_engine_s():
    (_, read) = with_expected_rates(READ, STAGES, [figures(None), figures(0.1002, warnings=["assertions"])])
    assert read.warnings == ["assertions", "found 0.1 % of the keys that it looked up; 100 % were expected"]
    assert read.metrics["found_expected_pct"] == 100


def test_what_is_not_known_is_not_said():
    orphan = replace(READ, parent="s-gone")
    assert with_expected_rates(orphan, STAGES, [figures(None), figures(1.0)]) == [figures(None), figures(1.0)]
    assert with_expected_rates(LOAD, {}, [figures(None)]) == [figures(None)]
    loaded = replace(LOAD, steps=(step("fillseq"),))  # onto what is there
    assert with_expected_rates(READ, {**STAGES, "s-load": loaded}, [figures(None), figures(1.0)])[1] == figures(1.0)
