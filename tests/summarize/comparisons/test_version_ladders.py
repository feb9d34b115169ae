"""A ladder of versions: its order, its changes in words, and what breaks it."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from stepgrid.summarize import html_page, summary_text
from stepgrid.summarize.comparisons.ladders import drifts, step_drift, versions
from tests.summarize.comparisons.made_ladder import BUILDS, RATES, measured
from tests.summarize.made import point, run


def test_versions_are_in_their_order_and_of_one_thing() -> None:
    assert versions(["rocksdb-10.1.0", "rocksdb-9.2", "rocksdb-9.10.0"]) == (
        "rocksdb-9.2", "rocksdb-9.10.0", "rocksdb-10.1.0",
    )  # fmt: skip
    assert versions(["mysql-8.0.40", "postgres-17.2"]) == ()
    assert versions(["0.5", "1.5", "2.5"]) == versions(["lru", "hyper"]) == versions(["1", "2"]) == ()


def test_the_version_that_changed_something_is_named(tmp_path: Path) -> None:
    found = measured(tmp_path, RATES)
    assert found.comparisons.ladders[0].sentences == [
        "from `rocksdb-8.9.1` on: readww, threads=2 0.900 [0.897, 0.902] slower"
    ]
    text = summary_text.text(found, None)
    assert "changes\n-------\n  from `rocksdb-8.9.1` on: readww, threads=2 0.900 [0.897, 0.902] slower\n" in text
    assert "changes along build\n-------------------\n  from           before" in text
    assert "  rocksdb-8.9.1  rocksdb-6.11.4 to rocksdb-7.8.3  readww  2        0.900 [0.897, 0.902] slower\n" in text
    assert '<section id="changes">\n<h2>Changes along build</h2>\n' in html_page.page(found)


def test_where_no_three_versions_can_be_compared_nothing_is_said(tmp_path: Path) -> None:
    assert measured(tmp_path, RATES, unlike=BUILDS[1::2]).comparisons.ladders == ()


def test_a_build_that_was_not_made_alike_ends_a_stretch(tmp_path: Path) -> None:
    """Of two and three versions: the change lies between them, and is none that can be told."""
    found = measured(tmp_path, RATES, unlike=BUILDS[:2])
    assert found.comparisons.ladders[0].changes == ()


def experiment(per_hour, noise=0.001, load=0.05, arms=4, loads=5, seed=1, each=10.0):
    """In blocks, each in an order of chance, so many minutes a run; loads differ, arms do."""
    chance = random.Random(seed)
    runs = {arm: [] for arm in range(arms)}
    for block in range(loads):
        level = chance.gauss(0, load)
        for place, arm in enumerate(chance.sample(range(arms), arms)):
            minutes = each * (block * arms + place)
            log = level + arm / 10 + per_hour * minutes / 60 + chance.gauss(0, noise)
            runs[arm].append(run(str(arm), block, 1000 * math.exp(log), minutes=minutes))
    return [point(*found) for found in runs.values()]


def test_a_drift_is_found_beside_arms_and_loads_that_differ():
    found = step_drift("readww", experiment(-0.02))
    assert found.per_hour == pytest.approx(-0.02, abs=0.003)
    assert [drift.text for drift in drifts([("readww", experiment(-0.02))])] == [
        "readww: became 0.874 % slower from the first to the last arm of a load (30m00s), whatever the arm: the random "
        "order keeps that out of the ratios, not out of the figures"
    ]


def test_loads_that_differ_are_no_drift():
    found = [step_drift("readww", experiment(0.0, seed=seed)).chance for seed in range(200)]
    assert sum(each < 0.05 for each in found) <= 18
