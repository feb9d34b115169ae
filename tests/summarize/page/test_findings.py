"""What is said first stays short, however many steps and arms there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stepgrid.summarize.comparisons import phrases
from stepgrid.summarize.comparisons.comparison import ABSENT, Entry
from stepgrid.summarize.page import findings
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

ARMS = tuple(f"c{number}" for number in range(10))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """c0 is the base; each other one is a tenth slower than the one before it."""
    found = Experiment(
        tmp_path_factory.mktemp("short"), caches=ARMS, threads=("1",), loads=3, base={"cache": "c0"}, seconds=1
    )
    found.add_build("rocksdb-7.8.3")
    for load in range(3):
        found.add_load("rocksdb-7.8.3", load)
        for number, cache in enumerate(ARMS):
            rate = 100_000 * 0.9**number * (1 + load / 1000)
            found.add("rocksdb-7.8.3", cache, "1", load, {"readww": rate, "overwrite": rate})
    return scenario.report(found)


def test_the_largest_differences_and_how_many_more_there_are(report: Report) -> None:
    said = findings.lines(report)
    assert said[:2] == [
        "cache=c9 against cache=c0, readww: 0.39x [0.39, 0.39] slower",
        "cache=c9 against cache=c0, overwrite: 0.39x [0.39, 0.39] slower",
    ]
    assert said[6] == "and 12 more that are faster or slower: `QPS relative to cache=c0`"
    assert said[7] == "readww, cache=c4 against cache=c0: slower (0.66x)"
    assert said[19:] == ["and 6 comparisons more, of less: `QPS relative to cache=c0`"]


def test_few_are_said_whole(tmp_path: Path) -> None:
    said = findings.lines(scenario.report(scenario.experiment(tmp_path)))
    assert not any(line.startswith("and ") for line in said)


def test_single_loads_are_counted_as_such(tmp_path: Path) -> None:
    found = Experiment(tmp_path, threads=("1", "2"), loads=1, base={"cache": "lru"}, seconds=1)
    found.add_build("rocksdb-7.8.3")
    found.add_load("rocksdb-7.8.3", 0)
    for cache in found.caches:
        for threads in ("1", "2"):
            rates = {"readww": 1000.0 if cache == "lru" else 1100.0, "overwrite": 500.0}
            found.add("rocksdb-7.8.3", cache, threads, 0, rates)
    said = findings.lines(scenario.report(found))
    assert "readww, cache=hyper against cache=lru: 2 of one load each (1.10x)" in said


def test_of_a_step_without_qps_nothing_is_said(report: Report) -> None:
    """A load counts rows: there is nothing to compare, and what failed is told all the same."""
    table = next(each for section in report.sections for each in section.comparisons)

    def told(*kinds: str) -> list[str]:
        lines = [replace(table.lines[0], entries=(Entry("done"), *map(Entry, kinds)))]
        few = replace(table, columns=table.columns[: len(kinds) + 1], lines=tuple(lines))
        return [text for _, text in phrases.tally(few)]

    assert told("done", ABSENT) == []
    assert told("no base", "no base") == []  # one warning says it of all
    assert told("done", "failed") == [f"{table.step}, cache=c2 against cache=c0: failed"]
