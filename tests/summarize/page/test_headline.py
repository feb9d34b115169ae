"""What is said first where no comparison is a difference: text and page agree on what was judged and what was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import unescape
from pathlib import Path

import pytest

from stepgrid.summarize.page import summary_text
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

NEW, OLD = "rocksdb-7.8.3", "rocksdb-6.11.4"
RAISE = "Raise `repeat` for the inconclusive ones (`stepgrid plan` says to what)."


def made(root: Path, rates: Mapping[str, Sequence[float]], builds: Sequence[str] = (NEW,)) -> Experiment:
    """One step; rates of each cache, or of each build, by load."""
    caches = tuple(rates) if len(builds) == 1 else ("lru",)
    base = {"cache": "lru"} if len(builds) == 1 else {"build": builds[0]}
    loads = len(next(iter(rates.values())))
    found = Experiment(root, builds=builds, caches=caches, threads=("1",), loads=loads, base=base, seconds=1)
    for build in builds:
        found.add_build(build)
        for load in range(loads):
            found.add_load(build, load)
            for name, each in rates.items():
                if name in (*caches, build) and (len(builds) == 1 or name == build):
                    arm = name if len(builds) == 1 else "lru"
                    found.add(build, arm, "1", load, {"readww": each[load], "overwrite": each[load]})
    scenario.report(found)
    return found


def said(found: Experiment) -> tuple[str, str]:
    """What the text says in short before its counts, and the page's heading with what stands below it."""
    text = " ".join(scenario.text(found).split())
    page = unescape(summary_text.page_path(found.store, "p-synthetic").read_text(encoding="utf-8"))
    answer = page.split('<section id="answer">')[1].split("<h3>")[0].split("<dl")[0].split("<details")[0]
    words = answer.replace("<p>", "|").replace("<h2>", "").replace("</h2>", "").replace("</p>", "")
    return text, "".join(words.split("\n"))


@pytest.mark.parametrize(
    ("rates", "title", "sentence"),
    [
        (
            {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0]},
            "No difference found",
            f"No difference exceeds the noise. {RAISE}",
        ),
        (
            {"lru": [1000.0, 1100.0, 950.0], "hyper": [1000.0, 1100.0, 950.0]},
            "No difference found",
            "No difference exceeds the noise.",
        ),
        (
            {"lru": [1000.0], "hyper": [1050.0], "plain": [900.0]},
            "No verdict",
            "4 comparisons, one load each: no verdict",
        ),
    ],
)
def test_what_was_judged_and_what_was_not(
    tmp_path: Path, rates: Mapping[str, Sequence[float]], title: str, sentence: str
) -> None:
    text, page = said(made(tmp_path, rates))
    assert f"in short {sentence} " in text
    assert page == f"{title}|{sentence}"


def test_builds_that_cannot_be_compared_are_no_noise(tmp_path: Path) -> None:
    """6.11.4 and 7.8.3 come from different suites."""
    rates = {OLD: [1000.0, 1010.0, 990.0], NEW: [1000.0, 1010.0, 990.0]}
    text, page = said(made(tmp_path, rates, (OLD, NEW)))
    sentence = "3 comparisons, builds of different or unknown quality: no verdict"
    assert f"in short {sentence} " in text
    assert page == f"No verdict|{sentence}"


def test_each_reason_has_its_sentence(tmp_path: Path) -> None:
    """A second load of one arm alone: its comparison is judged, the other has one load."""
    found = Experiment(tmp_path, caches=("lru", "hyper", "plain"), threads=("1",), loads=3, seconds=1)
    found.add_build(NEW)
    rates = {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0], "plain": [980.0]}
    for load in range(3):
        found.add_load(NEW, load)
    for cache, each in rates.items():
        for load, qps in enumerate(each):
            found.add(NEW, cache, "1", load, {"readww": qps, "overwrite": qps})
    scenario.report(found)
    _, page = said(found)
    judged = f"No difference exceeds the noise. {RAISE}"
    assert page == f"No difference found|{judged}|2 comparisons, one load each: no verdict"


def test_a_difference_speaks_for_itself(tmp_path: Path) -> None:
    text, page = said(made(tmp_path, {"lru": [1000.0, 1010.0, 990.0], "hyper": [2000.0, 2020.0, 1980.0]}))
    assert "in short cache=hyper against cache=lru, readww: 2.00x" in text
    assert page.startswith("Differences found")


def test_where_nothing_is_compared_nothing_is_said(tmp_path: Path) -> None:
    text, page = said(made(tmp_path, {"lru": [1000.0, 1010.0, 990.0]}))
    assert "in short" not in text
    assert page == ""
