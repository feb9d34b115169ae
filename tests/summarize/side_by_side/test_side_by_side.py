"""Two sets of results as the arms of one report, by figures that are easy to check by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepgrid.collect.job import collect
from stepgrid.summarize.comparisons.comparison import BASE, RATIO, ComparedMetric, Comparison, Entry, Row
from stepgrid.summarize.comparisons.comparison_axes import Layout
from stepgrid.summarize.page import html, summary_text
from stepgrid.summarize.side_by_side import reproduction, result_set
from stepgrid.summarize.side_by_side.matching_cells import NotComparable
from stepgrid.summarize.side_by_side.result_set import ResultSet
from stepgrid.summarize.side_by_side.side_by_side import side_by_side
from stepgrid.summarize.statistics.confidence_intervals import Interval
from tests.summarize import made
from tests.summarize.synthetic import Experiment

OLD, NEW = "rocksdb-6.11.4", "rocksdb-7.8.3"
LEVELS = (1.0, 1.01, 0.99)


def measured(root: Path, name: str, slower: float = 1.0, levels: tuple[float, ...] = LEVELS, **said: Any) -> ResultSet:
    """hyper is slower than in the other by a factor."""
    found = Experiment(root, loads=len(levels), **said)
    for build in found.builds:
        found.add_build(build)
        for load, level in enumerate(levels):
            found.add_load(build, load, 300_000 * level)
            for cache in found.caches:
                for threads in found.threads:
                    rate = 10_000 * level * int(threads) * (slower if cache == "hyper" else 1.0)
                    found.add(build, cache, threads, load, {"readww": rate, "overwrite": 2 * rate})
    collect(found.store, found.plan)
    return result_set.stored(found.store, found.plan.digest, name)


def told(first: ResultSet, second: ResultSet) -> str:
    return summary_text.text(side_by_side(first, second, ()), None)


def test_each_point_is_compared_with_itself(tmp_path: Path) -> None:
    text = told(measured(tmp_path / "1", "then"), measured(tmp_path / "2", "now", 0.8, (1.002, 1.012, 0.994)))
    assert "LRU against hyper-clock cache: now against then\n=" in text
    assert re.search(r"^  readww +lru +2 +20,000 +0.31 % +1.00 \[1.00, 1.01\] same$", text, re.MULTILINE)
    assert re.search(r"^  readww +hyper +2 +20,000 +0.31 % +0.80 \[0.80, 0.81\] slower$", text, re.MULTILINE)
    assert "compared    results: then (base), now\n            build: rocksdb-7.8.3\n" in text
    assert "relative QPS" not in text, "the comparison says it"


def test_what_both_have_is_one_result(tmp_path: Path) -> None:
    one = measured(tmp_path, "then")
    found = side_by_side(one, ResultSet("now", one.header, one.tables, one.links), ())
    assert found.comparisons.all == ()
    assert found.notes.differs[0] == "the same runs on both sides: they reproduce nothing"
    assert found.notes.coverage.total == 3 + 2 * 4 * 3  # each once: a load, and two steps at four points


def test_an_axis_with_one_label_each_is_what_they_differ_by(tmp_path: Path) -> None:
    first, second = measured(tmp_path / "1", "a", builds=(OLD,)), measured(tmp_path / "2", "b", builds=(NEW,))
    found = side_by_side(first, second, ())
    assert found.notes.differs[2:4] == (f"build: {OLD} -> {NEW}", "build.version: 6.11.4 -> 7.8.3")
    assert [axis.name for axis in found.setup.axes] == ["results", "cache", "threads"]
    assert f"            measured: {first.days} -> {second.days}\n            build: {OLD} -> {NEW}\n" in told(
        first, second
    )
    assert f"build: {OLD} -&gt; {NEW}<br>" in html.page(found)


def test_cells_of_one_side_alone_are_counted(tmp_path: Path) -> None:
    first = measured(tmp_path / "1", "a", threads=("1", "2", "4"))
    second = measured(tmp_path / "2", "b", threads=("2", "1"), caches=("lru", "hyper", "clock"))
    found = side_by_side(first, second, ())
    alone = ("2 cells of the first alone: not compared", "2 cells of the second alone: not compared")
    assert found.notes.left_out == alone
    assert {axis.name: axis.labels for axis in found.setup.axes}["threads"] == ("2", "1")
    assert f"left out    {alone[0]}\n            {alone[1]}\n" in told(first, second)


def test_a_chosen_label_narrows_the_side_that_has_it(tmp_path: Path) -> None:
    first = measured(tmp_path / "1", "a", builds=(OLD, NEW))
    second = measured(tmp_path / "2", "b", builds=("rocksdb-9.10.0",))
    hint = f"--where build={OLD} --where build=rocksdb-9.10.0 compares two of them"
    why = f"no label of axis `build` is in both: {OLD}, {NEW} of the first, rocksdb-9.10.0 of the second; {hint}"
    with pytest.raises(NotComparable) as caught:
        side_by_side(first, second, ())
    assert str(caught.value) == why
    assert (
        side_by_side(first, second, [("build", NEW), ("build", "rocksdb-9.10.0")]).notes.differs[2]
        == f"build: {NEW} -> rocksdb-9.10.0"
    )


def test_an_axis_of_one_side_alone_must_be_told(tmp_path: Path) -> None:
    first, second = measured(tmp_path / "1", "a"), measured(tmp_path / "2", "b")
    cells = [
        replace(cell, labels={name: label for name, label in cell.labels.items() if name != "cache"})
        for cell in second.header.cells
        if cell.labels["cache"] == "lru"
    ]
    axes = tuple(axis for axis in second.header.axes if axis.name != "cache")
    without = replace(second.header, axes=axes, read_cells=lambda: cells)
    other = ResultSet("b", without, second.tables, second.links)
    with pytest.raises(NotComparable) as caught:
        side_by_side(first, other, ())
    assert str(caught.value) == (
        "axis `cache` is of the first alone, and has the labels lru, hyper: say which is meant, such as "
        "--where cache=lru"
    )
    assert side_by_side(first, other, [("cache", "lru")]).notes.differs[2] == "cache: lru -> not an axis"


def test_what_was_reproduced_is_counted(tmp_path: Path) -> None:
    first, second = measured(tmp_path / "1", "then"), measured(tmp_path / "2", "now", 0.8, (1.002, 1.012, 0.994))
    ratio = "0.80× [0.80, 0.81]"
    assert side_by_side(first, second, ()).notes.differs[:2] == (
        "reproduced within 2 % at 5 of 9 points",
        f"not reproduced at 4: readww, cache=hyper, threads=1 {ratio}; readww, cache=hyper, threads=2 {ratio}; "
        f"overwrite, cache=hyper, threads=1 {ratio}; and 1 more",
    )


def test_a_ratio_far_from_1_reproduces_nothing_however_high_the_noise_floor() -> None:
    point = made.point(made.run("a", 0, 1000.0))
    entry = Entry(RATIO, point, Interval(0.26, 0.05, 1.35, 3), 0.26, "inconclusive", floor=4.0)
    table = Comparison(
        ComparedMetric(), Layout({}, (), ()), ((), ()), (Row("readww", (), (Entry(BASE, point), entry)),)
    )
    assert list(reproduction.sentences([table], 0.02)) == [
        "reproduced within 2 % at 0 of 1 point",
        "undecided at 1: readww 0.26× [0.05, 1.35]",
    ]
