"""A ladder of versions: its order, its changes in words, and what breaks it."""

from __future__ import annotations

from pathlib import Path

from stepgrid.summarize import html_page, summary_text
from stepgrid.summarize.comparisons.ladders import versions
from tests.summarize.comparisons.made_ladder import BUILDS, RATES, measured


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


def test_no_change_is_said(tmp_path: Path) -> None:
    found = measured(tmp_path, {})
    assert found.comparisons.ladders[0].sentences == [
        "no change from one version to the next in rocksdb-6.11.4 to rocksdb-10.4.2"
    ]


def test_where_no_three_versions_can_be_compared_nothing_is_said(tmp_path: Path) -> None:
    assert measured(tmp_path, RATES, unlike=BUILDS[1::2]).comparisons.ladders == ()


def test_a_build_that_was_not_made_alike_ends_a_stretch(tmp_path: Path) -> None:
    """Of two and three versions: the change lies between them, and is none that can be told."""
    found = measured(tmp_path, RATES, unlike=BUILDS[:2])
    assert found.comparisons.ladders[0].changes == ()


def test_a_version_of_which_a_load_did_nothing_ends_a_stretch_and_is_named(tmp_path: Path) -> None:
    found = measured(tmp_path, {**RATES, "rocksdb-7.8.3": 0.0})
    assert found.comparisons.ladders[0].sentences == [
        "no change from one version to the next in rocksdb-6.11.4 to rocksdb-10.4.2",
        "not judged: `rocksdb-7.8.3`, readww, threads=2: 3 of 3 loads did nothing (0 QPS)",
    ]
