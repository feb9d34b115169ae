import json
from dataclasses import replace

import pytest

from stepgrid.collect.figures.metrics_cache import REVISION, kept
from stepgrid.collect.figures.step_figures import every, figures
from stepgrid.plugins.drivers import driver
from stepgrid.store.status.results import read
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture
def made(tmp_path):
    experiment = Experiment(tmp_path, loads=1)
    result = experiment.add(BUILD, "lru", "1", 0, {"readww": [900, 1100], "overwrite": 2000.0})
    stage = next(stage for stage in experiment.plan.stages if stage.id == "s-7.8.3-lru-1-0")
    return read(result, stage), stage.steps


def cache(result):
    return result / f"figures.db_bench.{driver('db_bench').parser}.json"


def test_figures_and_usage_by_name(made):
    found = figures(*made)
    assert [step.metrics["qps"] for step in found] == [1000.0, 2000.0]
    assert found[0].metrics["p99_us"] == 5000.0
    assert found[0].metrics["cpu_us_per_op"] == 2.0 * 1e6 / 2000
    assert [tuple(point) for point in found[0].qps] == [(1.0, 900.0), (2.0, 1100.0)]
    assert "device_reads_per_s" not in found[0].metrics


def test_metrics_are_kept_for_those_who_look_back(made):
    found = figures(*made)
    assert kept(made[0].folder, "db_bench") == {index: step.metrics for index, step in enumerate(found)}
    assert kept(made[0].folder, "sysbench") == {}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"revision": -1, "steps": {}}', '{"revision": 1}'])
def test_a_cache_that_is_not_one_is_made_again(made, text):
    cache(made[0].folder).write_text(text)
    assert kept(made[0].folder, "db_bench") == {}
    assert figures(*made)[1].metrics["qps"] == 2000.0
    assert json.loads(cache(made[0].folder).read_text())["revision"] == REVISION


def test_a_newer_parser_parses_again(made, monkeypatch):
    figures(*made)
    old = cache(made[0].folder)
    monkeypatch.setattr(type(driver("db_bench")), "parser", 99)
    (made[0].folders[0] / "stdout").write_text("no result line")
    assert figures(*made)[0].error is not None
    assert old.is_file()


def test_samples_that_cannot_be_read_say_where(made):
    path = made[0].folders[0] / "samples.jsonl"
    path.write_text('{"monotonic": 1.0}\n{"monotonic": "soon"}\n')
    assert figures(*made)[0].error == f"readww: {path}: Expected `float`, got `str` - at `$[1].monotonic`"


def test_output_without_its_result_line_is_an_error_and_not_cached(made):
    (made[0].folders[0] / "stdout").write_text("Killed\n")
    found = figures(*made)
    assert found[0].error is not None
    assert found[0].error.startswith(f"readww: {made[0].folders[0] / 'stdout'}: no result line of readwhilewriting")
    assert found[0].metrics == {}
    assert found[1].metrics["qps"] == 2000.0
    assert not cache(made[0].folder).exists()


def test_several_results_at_once_say_what_each_says_alone(tmp_path):
    experiment, results = Experiment(tmp_path, loads=1), []
    for at, cache_type in enumerate(("lru", "hyper")):
        result = experiment.add(BUILD, cache_type, "1", 0, {"readww": [900, 1100 + at], "overwrite": 2000.0 + at})
        stage = next(stage for stage in experiment.plan.stages if stage.id == f"s-7.8.3-{cache_type}-1-0")
        results.append((read(result, stage), stage.steps))
    (results[0][0].folders[1] / "stdout").write_text("Killed\n")
    (results[1][0].folders[0] / "samples.jsonl").write_text("[]\n")
    together = every(results)
    assert [[step.error is None for step in steps] for steps in together] == [[True, False], [False, True]]
    for steps, alone in zip(together, map(figures, *zip(*results, strict=True)), strict=True):
        assert [step.metrics for step in steps] == [step.metrics for step in alone]
        assert [step.error for step in steps] == [step.error for step in alone]
    assert (kept(results[0][0].folder, "db_bench"), kept(results[1][0].folder, "db_bench")) == ({}, {})


def test_nothing_is_per_operation_where_a_step_did_operations_of_two_kinds(tmp_path):
    """The CPU time is of both benchmarks, the operations only of the first: dividing them would be a wrong figure."""
    experiment = Experiment(tmp_path, loads=1)
    result = experiment.add(BUILD, "lru", "1", 0, {"readww": [900, 1100], "overwrite": 2000.0})
    stage = next(stage for stage in experiment.plan.stages if stage.id == "s-7.8.3-lru-1-0")
    both = replace(
        stage.steps[0], settings={**stage.steps[0].settings, "benchmarks": ["readwhilewriting", "overwrite", "stats"]}
    )
    [found, _] = figures(read(result, stage), [both, stage.steps[1]])
    assert found.facts["also_ran"] == "overwrite"
    assert found.metrics["cpu_seconds"] == 2.0
    assert "cpu_us_per_op" not in found.metrics
    assert "context_switches_per_op" not in found.metrics
