"""A curve of recall that never leaves 1 is named: it shows nothing of what recall costs."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.summarize.data.points import Point
from stepgrid.summarize.notes.recall_range import sentences
from tests.summarize import made


def point(build: str, searched: str, *recalls: float) -> Point:
    runs = (made.run(searched, load, 9.0, recall=recall) for load, recall in enumerate(recalls))
    return made.point(*(replace(run, build=build) for run in runs))


def test_searches_that_find_all_are_named_with_the_lowest_of_each_build() -> None:
    points = [
        point("maria", "10", 0.9994, 0.9992, 0.9993),
        point("maria", "40", 1.0),
        point("pgvector", "10", 0.998),
        point("pgvector", "40", 1.0),
    ]
    assert list(sentences([("search", ("arm",), points)])) == [
        "search of maria: recall is 0.9993 or more in all 2 searches, the lowest at arm=10: smaller indexes, fewer "
        "candidates or harder data would show what recall costs"
    ]


def test_one_search_is_no_curve_and_a_step_without_recall_has_none() -> None:
    assert list(sentences([("exact", ("arm",), [point("maria", "10", 1.0)])])) == []
    assert list(sentences([("load", ("arm",), [made.point(made.run("a", 0, 9.0))])])) == []
