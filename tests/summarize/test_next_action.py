"""What a report says is to be done: take an arm, stay, or what decides it; axes without a base; the commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from stepgrid.summarize import next_action
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment
from tests.summarize.test_summary_text import complete

BASE = [1000.0, 1001.0, 999.0]
FASTER, SLOWER, UNEVEN = [1500.0, 1501.0, 1499.0], [700.0, 701.0, 699.0], [700.0, 1500.0, 1000.0]


@pytest.mark.parametrize(
    ("rates", "decision"),
    [
        (FASTER, "take cache=hyper: faster at all 2 points, worse at none"),
        (SLOWER, "stay with cache=lru: every other arm is worse"),
        (BASE, "stay with cache=lru: no other arm is better"),
        (UNEVEN, "not decided yet: 2 comparisons, all undecided."),
        (FASTER[:1], "not decided yet: 1 load. One load gives no verdict: `repeat: 3` or more does."),
    ],
    ids=["faster", "slower", "same", "undecided", "one load"],
)
def test_the_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rates: Sequence[float], decision: str) -> None:
    monkeypatch.chdir(tmp_path)
    report = scenario.report(complete(Path(), {"lru": BASE[: len(rates)], "hyper": rates}))
    lines = dict(next_action.lines(report))
    assert lines["decision"].startswith(decision)
    assert lines["repeat"] == "`stepgrid run specs/cache.yaml` with its spec and lock file"
    assert lines["builds"] == "rocksdb-7.8.3 (debian, rocksdb-tools 7.8.3-1)"
    assert lines["not compared"] == ""


def test_what_is_incomplete_decides_nothing_and_axes_without_a_base_are_named(tmp_path: Path) -> None:
    lines = dict(next_action.lines(scenario.report(scenario.experiment(tmp_path))))
    assert lines["decision"].startswith("not decided yet: 6 of 54 measured steps have no figures yet.")
    assert lines["not compared"] == "threads: not compared; name it in `report.base`"


@pytest.mark.parametrize(
    ("middle", "newest", "decision"),
    [
        (0.7, 0.5, "stay with rocksdb-6.11.4: rocksdb-9.10.0 is slower in 2 of 3 steps"),
        (
            1.5,
            0.5,
            "upgrade to rocksdb-7.8.3: faster at 2 of 3 points, worse at none (as shipped); "
            "rocksdb-9.10.0 is slower in 2 of 3 steps",
        ),
        (1.2, 1.5, "upgrade to rocksdb-9.10.0: faster at 2 of 3 points, worse at none (as shipped)"),
    ],
    ids=["slower", "not the newest", "newest"],
)
def test_a_ladder_says_something_of_its_newest_release(
    tmp_path: Path, middle: float, newest: float, decision: str
) -> None:
    rates = {"rocksdb-6.11.4": 1.0, "rocksdb-7.8.3": middle, "rocksdb-9.10.0": newest}
    experiment = Experiment(
        tmp_path, builds=tuple(rates), caches=("lru",), threads=("1",), base={"build": "rocksdb-6.11.4"}
    )
    for build, rate in rates.items():
        experiment.add_build(build)
        for load, level in enumerate(BASE):
            experiment.add_load(build, load)
            experiment.add(build, "lru", "1", load, {"readww": rate * level, "overwrite": rate * level})
    assert next_action.decision(scenario.report(experiment)) == decision
