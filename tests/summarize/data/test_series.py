"""The seconds of every run, from the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.collect.job import collect
from stepgrid.summarize.data import tables_reader
from stepgrid.summarize.data.tables_reader import from_pairs
from tests.summarize import scenario

RATES = [1000.0, 1100.0, 900.0, 100.0, 1050.0]


def test_every_run_is_read_and_summarized(tmp_path: Path) -> None:
    experiment = scenario.experiment(tmp_path)
    experiment.add(scenario.NEW, "lru", "1", 0, {"readww": [*RATES, 7.0], "overwrite": RATES})
    collect(experiment.store, experiment.plan)
    runs = tables_reader.read_series(experiment.store.tables(experiment.plan.digest))
    key = (experiment.stage(scenario.NEW, "lru", "1", 0), 0)
    assert [rate for _, rate in runs[key]] == [*RATES, 7.0]
    assert runs.summaries[key].length == 6
    assert dict(runs.summaries) == dict(from_pairs(runs).summaries)


def test_runs_one_after_the_other_are_one_series() -> None:
    pairs = [(float(second), rate) for second, rate in enumerate(RATES * 8)]
    runs = from_pairs({("s-1", 0): pairs[:20], ("s-2", 0): pairs[20:], ("s-3", 0): pairs, ("s-4", 0): pairs[:4]})
    assert runs.relative([("s-1", 0), ("s-2", 0)]) == runs.relative([("s-3", 0)])
    assert runs.relative([("s-4", 0)]) is runs.relative([("s-9", 0)]) is None
    assert runs["s-4", 0] == tuple(pairs[:4])
    with pytest.raises(KeyError):
        runs["s-9", 0]
