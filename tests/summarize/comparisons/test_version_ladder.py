"""A ladder of versions: its order, its changes in words, and what breaks it."""

from __future__ import annotations

from pathlib import Path

from stepgrid.summarize.comparisons.version_ladder import versions
from stepgrid.summarize.page import html, summary_text
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

BUILDS = ("rocksdb-6.11.4", "rocksdb-7.8.3", "rocksdb-8.9.1", "rocksdb-9.2.0", "rocksdb-10.4.2")
RATES = {"rocksdb-8.9.1": 0.9, "rocksdb-9.2.0": 0.9, "rocksdb-10.4.2": 0.9}
NOISE = (1.001, 0.999, 1.0, 1.002)


def measured(root: Path, rates: dict[str, float], unlike: tuple[str, ...] = ()) -> Report:
    """readww with two threads at these rates, the rest at 1; NOISE goes round."""
    made = Experiment(root, builds=BUILDS, base={"build": BUILDS[0]}, caches=("lru",))
    for at, build in enumerate(BUILDS):
        made.add_build(build, **({"quality": {"route": "source"}} if build in unlike else {"quality": {"route": "a"}}))
        for load in range(3):
            made.add_load(build, load, 300_000)
            for threads in ("1", "2"):
                rate = 10_000 * NOISE[(at + load + int(threads)) % 4]
                slow = rates.get(build, 1.0) if threads == "2" else 1.0
                made.add(build, "lru", threads, load, {"readww": rate * slow, "overwrite": rate})
    return scenario.report(made)


def test_versions_are_in_their_order_and_of_one_thing() -> None:
    assert versions(["rocksdb-10.1.0", "rocksdb-9.2", "rocksdb-9.10.0"]) == (
        "rocksdb-9.2", "rocksdb-9.10.0", "rocksdb-10.1.0",
    )  # fmt: skip
    assert versions(["mysql-8.0.40", "postgres-17.2"]) == ()
    assert versions(["0.5", "1.5", "2.5"]) == versions(["lru", "hyper"]) == versions(["1", "2"]) == ()


def test_the_version_that_changed_something_is_named(tmp_path: Path) -> None:
    found = measured(tmp_path, RATES)
    assert found.ladder is not None
    assert found.ladder.sentences == ["from `rocksdb-8.9.1` on: readww, threads=2 0.90 [0.90, 0.90] slower"]
    text = summary_text.text(found, None)
    assert "changes     from `rocksdb-8.9.1` on: readww, threads=2 0.90 [0.90, 0.90] slower\n" in text
    assert "changes along build\n-------------------\n  from           before" in text
    assert "  rocksdb-8.9.1  rocksdb-6.11.4 to rocksdb-7.8.3  readww  2        0.90 [0.90, 0.90] slower\n" in text
    assert '<section id="changes">\n<h2>Changes along build</h2>\n' in html.page(found)


def test_no_change_is_said(tmp_path: Path) -> None:
    found = measured(tmp_path, {})
    assert found.ladder is not None
    assert found.ladder.sentences == ["no change from one version to the next in rocksdb-6.11.4 to rocksdb-10.4.2"]


def test_a_build_that_was_not_made_alike_ends_a_stretch(tmp_path: Path) -> None:
    """Of two and three versions: the change lies between them, and is none that can be told."""
    found = measured(tmp_path, RATES, unlike=BUILDS[:2])
    assert found.ladder is not None
    assert found.ladder.changes == ()
