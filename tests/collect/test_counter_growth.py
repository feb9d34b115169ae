"""By how much counters grew, of a plan's cells: means of the loads, and runs that cells share once."""

import json
from pathlib import Path

import pytest

from stepgrid.collect.job import collect
from stepgrid.collect.query import CounterFilter, counter_growth, counter_places
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    """Two caches and two loads: `hyper` skips ten times as many."""
    found = Experiment(tmp_path_factory.mktemp("growth"), loads=2)
    found.add_build(BUILD)
    for load, skipped in enumerate((2, 8)):
        _counted(found, found.add_load(BUILD, load), {})
        for cache, factor in (("lru", 1), ("hyper", 10)):
            result = found.add(BUILD, cache, "1", load, {"readww": 1000.0, "overwrite": 500.0})
            _counted(found, result, {"least": {"SKIPPED": skipped * factor, "SEEKS": 2}})
    collect(found.store, found.plan)
    return found


def _counted(experiment: Experiment, result: Path, counters: dict[str, dict[str, int]]) -> None:
    record = json.loads((result / "result.json").read_text())
    record["steps"][0]["counters"] = counters
    (result / "result.json").write_text(json.dumps(record))
    experiment.seal(result)


def _cells(experiment: Experiment) -> dict[str, str]:
    return {cell.id: cell.labels["cache"] for cell in experiment.plan.cells}


def test_the_mean_of_the_loads_by_cell(experiment: Experiment) -> None:
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
def test_what_is_wanted(experiment: Experiment, wanted: CounterFilter, names: set[str]) -> None:
    found = counter_growth(experiment.store.tables("p-synthetic"), list(_cells(experiment)), wanted)
    assert {name for of in found.values() for values in of.values() for name in values} == names
