"""What a report says is to be done: take an arm, stay, or what decides it; axes without a base; the commands."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.records import replace
from stepgrid.summarize import next_action
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment
from tests.summarize.test_summary_text import complete

BASE = [1000.0, 1001.0, 999.0]
FASTER, SLOWER, UNEVEN = [1500.0, 1501.0, 1499.0], [700.0, 701.0, 699.0], [700.0, 1500.0, 1000.0]


@pytest.mark.parametrize(
    ("rates", "decision"),
    [
        (FASTER, "take cache=hyper: faster at all 2 points, worse at none by QPS"),
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
        (0.7, 0.5, "stay with rocksdb-6.11.4: rocksdb-9.10.0 is slower in 2 of 3 steps (as shipped)"),
        (
            1.5,
            0.5,
            "upgrade to rocksdb-7.8.3: faster at 2 of 3 points, worse at none by QPS; "
            "rocksdb-9.10.0 is slower in 2 of 3 steps (as shipped)",
        ),
        (
            (1.5, 0.7),
            0.5,
            "depends on the row: rocksdb-7.8.3 is slower in overwrite, faster in readww; "
            "rocksdb-9.10.0 is slower in 2 of 3 steps (as shipped)",
        ),
        (1.2, 1.5, "upgrade to rocksdb-9.10.0: faster at 2 of 3 points, worse at none by QPS (as shipped)"),
    ],
    ids=["slower", "not the newest", "better in the middle", "newest"],
)
def test_a_ladder_says_something_of_its_newest_release(
    tmp_path: Path, middle: Any, newest: float, decision: str
) -> None:
    rates: dict[str, Any] = {"rocksdb-6.11.4": 1.0, "rocksdb-7.8.3": middle, "rocksdb-9.10.0": newest}
    experiment = Experiment(
        tmp_path, builds=tuple(rates), caches=("lru",), threads=("1",), base={"build": "rocksdb-6.11.4"}
    )
    for build, rate in rates.items():
        experiment.add_build(build)
        read, write = rate if isinstance(rate, tuple) else (rate, rate)
        for load, level in enumerate(BASE):
            experiment.add_load(build, load)
            experiment.add(build, "lru", "1", load, {"readww": read * level, "overwrite": write * level})
    assert next_action.decision(scenario.report(experiment)) == decision


Points = tuple[float | None, float | None, float | None, float | None]  # of the base's QPS; None: unsupported


def four_points(root: Path, points_by_arm: Mapping[str, Points]) -> Report:
    """Measure readww and overwrite with 1 thread, then with 2."""
    build = "rocksdb-7.8.3"
    experiment = Experiment(root, caches=("lru", *points_by_arm))
    experiment.add_build(build)
    for load, level in enumerate(BASE):
        experiment.add_load(build, load)
        for cache, points in {"lru": (1.0, 1.0, 1.0, 1.0), **points_by_arm}.items():
            for threads, read, write in (("1", *points[:2]), ("2", *points[2:])):
                if read is None or write is None:
                    experiment.add_unsupported(build, cache, threads, load, "no option cache_type")
                else:
                    noise = 1 if cache == "lru" else 1 + (load - 1) / 1000
                    rates = {"readww": read * level * noise, "overwrite": write * level * noise}
                    experiment.add(build, cache, threads, load, rates)
    return scenario.report(experiment)


@pytest.mark.parametrize(
    ("arms", "decision"),
    [
        (
            {"arc": (1, 1, 1, 1), "hyper": (1.5, 1.5, 1.5, 0.7)},
            "depends on the row: cache=hyper is faster at 3 of 4 points, slower in overwrite, threads=2",
        ),
        (
            {"hyper": (0.7, 1, 1, 1)},
            "stay with cache=lru: no other arm is better; cache=hyper is slower in readww, threads=1",
        ),
        (
            {"hyper": (1.5, 1.5, 1.5, 1.5), "arc": (1.501, 1.501, 1.501, 1.501)},
            "take cache=arc or cache=hyper: faster at all 4 points, worse at none by QPS; they are not told apart",
        ),
        (
            {"hyper": (1.5, 1.5, 1.5, 1.5), "arc": (2, 2, 2, 2)},
            "take cache=arc: faster at all 4 points, worse at none by QPS",
        ),
        (
            {"hyper": (1.5, 1.5, None, None)},
            "depends on the row: cache=hyper is faster at 2 of 4 points, worse at none by QPS, "
            "2 of 4 points unsupported",
        ),
        (
            {"hyper": (1.5, 1.5, 1, 1), "arc": (2, 2, None, None)},
            "depends on the row: cache=arc is faster at 2 of 4 points, worse at none by QPS, "
            "2 of 4 points unsupported; cache=hyper is faster at threads=1",
        ),
    ],
    ids=["mixed", "worse somewhere", "not told apart", "told apart", "unsupported", "the better one unsupported"],
)
def test_what_differs_from_row_to_row(tmp_path: Path, arms: Mapping[str, Points], decision: str) -> None:
    assert next_action.decision(four_points(tmp_path, arms)) == decision


@pytest.mark.parametrize("rates", [(1.5, 1.5, 1.5, 1.5), (1.5, 1.5, 1.5, 0.7), (0.7, 1, 1, 1)])
def test_each_decision_names_its_conditions(tmp_path: Path, rates: Points) -> None:
    report = four_points(tmp_path, {"hyper": rates})
    (comparison,) = report.comparisons.leading
    doubtful: dict[str, Any] = {
        "as_shipped": "suites",
        "doubts": ("unequal durability: commit sync / os",),
        "perhaps": True,
    }
    rows = tuple(replace(row, entries=(row.entries[0], replace(row.entries[1], **doubtful))) for row in comparison.rows)
    altered = scenario.altered(report, all=(replace(comparison, rows=rows),), scale="smoke")
    decision = next_action.decision(altered)
    assert decision.startswith("perhaps ")
    assert decision.endswith(" (as shipped, unequal durability: commit sync / os, scale smoke)")
