"""The seconds of every run, from the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.collect.job import collect
from stepgrid.summarize.data import series
from stepgrid.summarize.data.series import Series, from_pairs
from tests.summarize.synthetic import Experiment

RATES = [1000.0, 1100.0, 900.0, 100.0, 1050.0]


def experiment(root: Path) -> Experiment:
    found = Experiment(root, threads=("1",), loads=2)
    for build in found.builds:
        found.add_build(build)
        for load in range(2):
            found.add_load(build, load)
    return found


def add(found: Experiment, cache: str, load: int, rates: list[float]) -> str:
    found.add(found.builds[0], cache, "1", load, {"readww": rates, "overwrite": rates[::-1]})
    return found.stage(found.builds[0], cache, "1", load)


def reported(found: Experiment) -> Series:
    collect(found.store, found.plan)
    return series.read(found.store.tables(found.plan.digest))


def test_every_run_is_read_with_what_it_comes_to(tmp_path: Path) -> None:
    found = experiment(tmp_path)
    stages = [add(found, "lru", 0, RATES), add(found, "hyper", 0, [*RATES, 7.0])]
    known = reported(found)
    assert {stage for stage, _ in known} >= {*stages}
    assert [rate for _, rate in known[stages[1], 0]] == [*RATES, 7.0]
    assert dict(known.summaries) == dict(from_pairs({place: known[place] for place in known}).summaries)


def test_a_result_that_was_measured_again_is_read_again(tmp_path: Path) -> None:
    found = experiment(tmp_path)
    stage = add(found, "lru", 0, RATES)
    before = reported(found).summaries[stage, 0].top
    assert add(found, "lru", 0, [rate * 2 for rate in RATES]) == stage
    assert reported(found).summaries[stage, 0].top == 2 * before


def test_runs_one_behind_the_other_are_one_series() -> None:
    longer = [(float(second), rate) for second, rate in enumerate(RATES * 8)]
    found = from_pairs({("s-1", 0): longer[:20], ("s-2", 0): longer[20:], ("s-3", 0): longer, ("s-4", 0): longer[:4]})
    assert found.relative([("s-1", 0), ("s-2", 0)]) == found.relative([("s-3", 0)])
    assert found.relative([("s-4", 0)]) is None
    assert found.relative([("s-9", 0)]) is None
    assert found[("s-4", 0)] == tuple(longer[:4])
    with pytest.raises(KeyError):
        found[("s-9", 0)]
