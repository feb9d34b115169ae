"""What is said of results that do not say what was in the files that their commands read."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.summarize.notes.warnings import unknown_contents
from tests.summarize.made import run

RUNS = [replace(run("c", load, 1.0), place=("s-1", 0), attempt=str(load)) for load in range(2)]


def test_it_is_said_once() -> None:
    unknown = {"s-1/0": {"files": "a.sh, b.csv"}, "s-1/1": {"files": "a.sh"}}
    assert list(unknown_contents(unknown, RUNS)) == [
        "2 results of unknown file contents: measured before checksums of a.sh, b.csv were kept; "
        "`stepgrid redo` measures again"
    ]


def test_of_results_that_are_not_reported_nothing_is_said() -> None:
    assert list(unknown_contents({"s-1/7": {"files": "a.sh"}, "s-2/0": {"files": "a.sh"}}, RUNS)) == []
