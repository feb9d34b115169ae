"""Steps whose runs took less than a second."""

from __future__ import annotations

from stepgrid.summarize.notes.short_runs import sentences
from tests.summarize import made


def _section(step: str, *seconds: float):
    runs = (made.run("a", load, 9.0, seconds=each) for load, each in enumerate(seconds))
    return step, ("arm",), [made.point(*runs)]


def test_the_shortest_run_of_each_short_step_is_named() -> None:
    found = list(sentences([_section("load", 0.41, 2.0), _section("read", 60.0), _section("index", 0.9)]))
    assert found == [
        "runs of less than a second say little of a speed (load, 0.410 s; index, 0.900 s and up): more rows or keys "
        "make them longer, `times:` makes several of each"
    ]


def test_longer_ones_and_those_without_a_time_are_not() -> None:
    assert not list(sentences([_section("read", 1.0), ("scan", ("arm",), [made.point(made.run("a", 0, 9.0))])]))
