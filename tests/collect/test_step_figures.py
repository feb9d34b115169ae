import json

import pytest

from stepgrid.collect import step_figures
from stepgrid.collect.result_figures import read_result, stored_figures
from stepgrid.collect.step_figures import trial
from stepgrid.expand.search import AxisSearch
from stepgrid.language.expressions import ExpressionError
from stepgrid.model.records import replace
from stepgrid.plugins.registry import driver
from stepgrid.store.results import load_result
from tests.collect.reading import figures
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture
def made(tmp_path):
    experiment = Experiment(tmp_path, loads=1)
    result = experiment.add(BUILD, "lru", "1", 0, {"readww": [900, 1100], "overwrite": 2000.0})
    stage = next(stage for stage in experiment.plan.stages if stage.id == "s-7.8.3-lru-1-0")
    return load_result(result, stage), stage.steps


def files(result):
    return sorted(path.name.split(".")[0] for path in result.glob("*.*.msgpack"))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sha256":"0","body":{}}'])
def test_figures_that_are_damaged_are_read_again(made, text):
    figures(*made)
    for path in made[0].folder.glob("figures.*"):
        path.write_text(text)
    assert stored_figures(made[0].folder, made[1]) is None
    figures(*made)
    assert stored_figures(made[0].folder, made[1]).steps[1].metrics["qps"] == 2000.0


def test_one_changed_byte_is_damage(made):
    figures(*made)
    [path] = made[0].folder.glob("figures.*")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert stored_figures(made[0].folder, made[1]) is None


def test_a_newer_parser_reads_again(made, monkeypatch):
    figures(*made)
    monkeypatch.setattr(type(driver("db_bench")), "parser", 99)
    assert stored_figures(made[0].folder, made[1]) is None
    (made[0].folders[0] / "stdout").write_text("no result line")
    assert figures(*made)[0].error is not None


def test_samples_that_cannot_be_read_say_where(made):
    path = made[0].folders[0] / "samples.jsonl"
    path.write_text('{"monotonic": 1.0}\n{"monotonic": "soon"}\n')
    assert figures(*made)[0].error == f'readww: {path}: sample 2: `monotonic` is "soon", and not a number'


def test_output_without_its_result_line_is_an_error_and_not_cached(made):
    (made[0].folders[0] / "stdout").write_text("Killed\n")
    found = figures(*made)
    assert found[0].error is not None
    assert found[0].error.startswith(f"readww: {made[0].folders[0] / 'stdout'}: no result line of readwhilewriting")
    assert found[0].metrics == {}
    assert found[1].metrics["qps"] == 2000.0
    assert files(made[0].folder) == []


def test_nothing_is_per_operation_where_a_step_did_operations_of_two_kinds(tmp_path):
    """The CPU time is of both benchmarks, the operations only of the first: dividing them would be a wrong figure."""
    experiment = Experiment(tmp_path, loads=1)
    result = experiment.add(BUILD, "lru", "1", 0, {"readww": [900, 1100], "overwrite": 2000.0})
    stage = next(stage for stage in experiment.plan.stages if stage.id == "s-7.8.3-lru-1-0")
    both = replace(
        stage.steps[0], settings={**stage.steps[0].settings, "benchmarks": ["readwhilewriting", "overwrite", "stats"]}
    )
    [found, _] = figures(load_result(result, stage), [both, stage.steps[1]])
    assert found.facts["also_ran"] == "overwrite"
    assert found.metrics["cpu_seconds"] == 2.0
    assert "cpu_us_per_op" not in found.metrics
    assert "context_switches_per_op" not in found.metrics


MIX = {"qps": 1000.0, "gets_per_s": 830.0, "puts_per_s": 140.0, "seeks_per_s": 30.0}


def with_metrics(made, monkeypatch, **metrics):
    """As if the driver had found these."""
    parser = step_figures.parse_step

    def parsed(*words):
        return replace(parser(*words), metrics=metrics)

    monkeypatch.setattr(step_figures, "parse_step", parsed)
    return figures(*made)[0].metrics


def test_reads_are_those_of_gets_and_seeks_and_writes_those_of_puts(made, monkeypatch):
    cost = {"reads_per_op": 0.43, "read_kb_per_op": 1.72, "write_kb_per_op": 0.7}
    lookups = {"reads_per_lookup": 0.5, "read_kb_per_lookup": 2.0, "write_kb_per_put": 5.0}
    assert lookups.items() <= with_metrics(made, monkeypatch, **MIX, **cost).items()


@pytest.mark.parametrize(
    ("metrics", "met"),
    [
        ({"inserts_per_s": 3799.6, "target_inserts_per_s": 4000}, 1.0),  # from 95 % on
        ({"inserts_per_s": 3799.4, "target_inserts_per_s": 4000}, 0.0),
        ({"inserts_per_s": 5.0}, None),
        ({"target_inserts_per_s": 5.0, "qps": 3.0}, None),
        ({"inserts_per_s": 10.0, "target_inserts_per_s": 10.0, "qps": 1.0, "target_qps": 2.0}, 0.0),  # all of them
    ],
)
def test_a_target_is_met_from_95_percent_on(made, monkeypatch, metrics, met):
    assert with_metrics(made, monkeypatch, **metrics).get("target_met") == met


def test_a_command_that_the_program_of_a_step_wrote_is_none(made):
    record = {"argv": 3, "env": {"a": {}}, "environment": [], "launch": 1, "more": 2}
    for folder in made[0].folders:
        (folder / "command.json").write_text(json.dumps(record))
    rows = [row for row in read_result(*made).environment if row[0] == "command"]
    assert not {name for _, _, name, _ in rows} & record.keys()


def test_a_rate_that_clients_do_not_keep_up_with_does_not_hold():
    search = AxisSearch("rate", "rate", 1, 1000, "max rate where p99_us < 5000", 4)
    assert trial(search, 100, {"p99_us": 4000.0, "backlog": 0.0, "target_met": 1.0}).holds
    assert not trial(search, 100, {"backlog": 7.0, "target_met": 1.0}).holds
    assert not trial(search, 100, {"target_met": 0.0}).holds
    with pytest.raises(ExpressionError):
        trial(search, 100, {"target_met": 1.0})
