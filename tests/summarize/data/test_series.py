"""The seconds of a result are read once: what they come to is kept as long as the result is what was read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stepgrid.collect.job import collect
from stepgrid.summarize.cache.report_cache import keeping
from stepgrid.summarize.data import series
from stepgrid.summarize.data.series import Series, made
from tests.summarize.synthetic import Experiment

RATES = [1000.0, 1100.0, 900.0, 100.0, 1050.0]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The stages that were looked for in the files; None: all of them."""
    asked: list[object] = []
    real = series._read
    monkeypatch.setattr(series, "_read", lambda folder, stages: asked.append(stages) or real(folder, stages))
    return asked


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


@contextmanager
def reported(found: Experiment) -> Iterator[Series]:
    collect(found.store, found.plan)
    with keeping(found.store.kept(found.plan.digest)):
        stages = {stage.id for stage in found.plan.stages}
        yield series.read(found.store.tables(found.plan.digest), stages)


def test_what_was_read_is_not_read_again(tmp_path: Path, read: list[object]) -> None:
    found = experiment(tmp_path)
    add(found, "lru", 0, RATES)
    for _ in range(2):
        with reported(found) as known:
            first = dict(known.heard)
    assert read[0] is None
    other = add(found, "hyper", 0, [*RATES, 7.0])
    with reported(found) as known:
        assert dict(known.heard) == first | {place: known.heard[place] for place in known if place[0] == other}
    assert read[1:] == [{other}]
    assert dict(known.heard) == dict(made({place: known[place] for place in known}).heard)


def test_a_result_that_was_measured_again_is_read_again(tmp_path: Path) -> None:
    found = experiment(tmp_path)
    stage = add(found, "lru", 0, RATES)
    with reported(found) as known:
        before = known.heard[stage, 0].top
    assert add(found, "lru", 0, [rate * 2 for rate in RATES]) == stage
    with reported(found) as known:
        assert known.heard[stage, 0].top == 2 * before


def test_runs_one_behind_the_other_are_one_series() -> None:
    longer = [(float(second), rate) for second, rate in enumerate(RATES * 8)]
    found = made({("s-1", 0): longer[:20], ("s-2", 0): longer[20:], ("s-3", 0): longer, ("s-4", 0): longer[:4]})
    assert found.relative([("s-1", 0), ("s-2", 0)]) == found.relative([("s-3", 0)])
    assert found.relative([("s-4", 0)]) is None
    assert found.relative([("s-9", 0)]) is None
    assert found[("s-4", 0)] == tuple(longer[:4])
    with pytest.raises(KeyError):
        found[("s-9", 0)]
