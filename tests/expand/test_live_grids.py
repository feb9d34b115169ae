"""Steps that run more than once: live grids, times and warm-ups."""

from __future__ import annotations

from tests.expand.samples import BASE, Compile, Complaints


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


def test_a_variable_of_a_live_grid_is_a_setting(complaints: Complaints) -> None:
    text = BASE.replace("benchmarks: [readwhilewriting]", "benchmarks: [readwhilewriting], for: {threds: [1, 2]}")
    assert "error[unknown-setting]: `threds` is no setting of db_bench" in complaints(text)


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
    assert ["before" in step.setup for step in steps] == [False, True] * 2
