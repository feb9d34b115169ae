"""Figures of older results of a plan, of which the noise floor is made; by how much counters grew, of its cells."""

import json

import pytest

from stepgrid.collect import job
from stepgrid.collect.job import collect
from stepgrid.model.records import replace
from stepgrid.plan import plan_file
from stepgrid.store import plans
from stepgrid.summarize.data.tables_reader import load
from stepgrid_investigate.causes import CounterFilter, counter_growth, counter_places
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture
def found(tmp_path):
    made = Experiment(tmp_path, caches=("lru",), threads=("1",), loads=2)
    made.add_build(BUILD)
    for at in range(2):
        made.add_load(BUILD, at)
        made.add(BUILD, "lru", "1", at, {"readww": 1000.0, "overwrite": 2000.0})
    collect(made.store, made.plan)
    return made


def past(made):
    collect(made.store, made.plan)
    every = load(made.store.tables(made.plan.digest), ["build", "cache", "threads"]).history
    return [(each.place, each.step, each.cell, each.load, each.restored, each.host, each.qps) for each in every]


def test_a_plan_that_was_measured_once_has_none(found):
    assert past(found) == []


def test_an_older_result_of_a_stage_is_history(found):
    found.add(BUILD, "lru", "1", 1, {"readww": 1100.0, "overwrite": 2200.0})
    stage, first = "s-7.8.3-lru-1-1", "s-7.8.3-lru-1-0"
    assert past(found) == [
        ((stage, 0), "readww", f"{first}/0", 2, True, "bench-7", 1000.0),
        ((stage, 1), "overwrite", f"{first}/1", 2, True, "bench-7", 2000.0),
    ]


def test_results_of_another_plan_are_none(found):
    """A verdict would depend on which specs share the store."""
    other = replace(found.plan, digest="", spec="specs/other.yaml", stages=found.plan.stages)
    other = replace(other, digest=plan_file.digest(other))
    plans.write(other, found.store.plan(other.digest))
    collect(found.store, other)
    assert list(job.history_rows(found.store, replace(found.plan, cells=(), stages=()), {})) == []


def test_only_so_many_results_are_read(found, monkeypatch):
    for _ in range(3):
        found.add(BUILD, "lru", "1", 1, {"readww": 1100.0, "overwrite": 2200.0})
        collect(found.store, found.plan)
    monkeypatch.setattr(job, "MOST", 1)
    assert len(past(found)) == 2  # of its two steps


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """Two caches and two loads: `hyper` skips ten times as many."""
    found = Experiment(tmp_path_factory.mktemp("growth"), loads=2)
    found.add_build(BUILD)
    for number, skipped in enumerate((2, 8)):
        _counted(found, found.add_load(BUILD, number), {})
        for cache, factor in (("lru", 1), ("hyper", 10)):
            result = found.add(BUILD, cache, "1", number, {"readww": 1000.0, "overwrite": 500.0})
            _counted(found, result, {"least": {"SKIPPED": skipped * factor, "SEEKS": 2}})
    collect(found.store, found.plan)
    return found


def _counted(experiment, result, counters):
    record = json.loads((result / "result.json").read_text())
    record["steps"][0]["counters"] = counters
    (result / "result.json").write_text(json.dumps(record))
    experiment.seal(result)


def _cells(experiment):
    return {cell.id: cell.labels["cache"] for cell in experiment.plan.cells}


def test_the_mean_of_the_loads_by_cell(experiment):
    folder, cells = experiment.store.tables("p-synthetic"), _cells(experiment)
    (place, found), *others = counter_growth(folder, list(cells), CounterFilter(sources=["least"])).items()
    assert (place, others) == (("readww", "least"), [])
    assert {cells[cell]: values for cell, values in found.items()} == {
        "lru": pytest.approx({"SKIPPED": 4.0, "SEEKS": 2.0}),
        "hyper": pytest.approx({"SKIPPED": 40.0, "SEEKS": 2.0}),
    }
    assert counter_places(folder) == {"least": ["readww"]}


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (CounterFilter(names=["SK*"]), {"SKIPPED"}),
        (CounterFilter(steps=["readww"], names=["SEEKS", "X"]), {"SEEKS"}),
        (CounterFilter(steps=["overwrite"]), set()),
        (CounterFilter(sources=["engine"]), set()),
    ],
)
def test_what_is_wanted(experiment, wanted, names):
    found = counter_growth(experiment.store.tables("p-synthetic"), list(_cells(experiment)), wanted)
    assert {name for of in found.values() for values in of.values() for name in values} == names
