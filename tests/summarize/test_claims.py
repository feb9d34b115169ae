"""What becomes of claims: what holds, what fails, what nobody can tell yet."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import scenario
from scenario import NEW, OLD
from synthetic import Experiment

from compiler.collect.tables import collect
from compiler.summarize import claim_words
from compiler.summarize.builds import caveat
from compiler.summarize.claims import Claim, claims
from compiler.summarize.command import read
from compiler.summarize.report import Report

READS = {"step": "readww", "threads": "1", "build": NEW}


def made(found: Experiment) -> Report:
    collect(found.store, found.plan)
    return read(found.store, found.plan.digest)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return made(scenario.experiment(tmp_path_factory.mktemp("claims")))


def claim(report: Report, expect: str, **where: Any) -> Claim:
    points = [point for section in report.sections for point in section.points]
    return claims([{"claim": "c", "expect": expect, "where": where}], report.axes, points)[0]


def numbers(found: Claim) -> list[str]:
    return [said for case in found.cases for said in case.said]


@pytest.mark.parametrize(
    ("expect", "result", "said"),
    [
        ("qps(cache='hyper') / qps(cache='lru') >= 1.4", "holds", "1.50 [1.49, 1.51]"),
        ("qps(cache='hyper') / qps(cache='lru') >= 1.6", "fails", "1.50 [1.49, 1.51]"),
        ("qps(cache='hyper') / qps(cache='lru') >= 1.5", "undecided", "1.50 [1.49, 1.51]; not enough repeats"),
        ("1.6 > qps(cache='hyper') / qps(cache='lru')", "holds", "1.50 [1.49, 1.51]"),
        ("qps(cache='hyper') >= 2 * qps(cache='lru')", "fails", "15,000 against 20,000: 0.75 [0.75, 0.75]x"),
        ("qps(cache='hyper') - qps(cache='lru') < 0", "fails", "5,000"),
        ("qps(cache='hyper') - 15050 > 0", "undecided", "-50.00 in 1 of 3 loads"),
        ("ops_sec(cache='hyper') > 1", "holds", "14,999 [14,631, 15,377]"),
        ("not qps(cache='hyper') > 1", "fails", None),
        ("qps(cache='hyper') > 1 and qps(cache='lru') > 1e9", "fails", None),
        ("qps(cache='hyper') > 1 or stall_pct(cache='lru') > 2", "holds", None),
        ("stall_pct(cache='lru') > 2", "undecided", "stall_pct(cache='lru'): readww has no such figure"),
        ("10 < p50_us(cache='lru') < 200", "holds", None),
        ("qps(cache='hyper') / (qps(cache='lru') - qps(cache='lru')) > 1", "undecided",
         "it has no value: a division by 0, or the like"),
    ],
)  # fmt: skip
def test_one_point(report: Report, expect: str, result: str, said: str | None) -> None:
    found = claim(report, expect, **READS)
    assert found.result == result
    assert said is None or numbers(found) == [said]


def test_what_is_left_open_means_for_all(report: Report) -> None:
    found = claim(report, "qps(cache='hyper') / qps(cache='lru') >= 1.05", build=NEW, threads="1")
    assert found.result == "holds"
    assert [case.where for case in found.cases] == ["readww", "overwrite"]  # nothing of fillseq has a cache
    assert claim_words.at_all(found) == ", at all 2 points"


def test_a_missing_cell_leaves_it_undecided(report: Report) -> None:
    found = claim(report, "qps(cache='hyper') / qps(cache='lru') >= 1.05", step="readww", build=NEW)
    assert found.result == "undecided"
    assert next((case.where, case.result, case.said) for case in found.cases) == (
        "threads=2", "undecided", ("qps(cache='hyper'): failed",)
    )  # fmt: skip


def test_one_that_fails_anywhere_fails(report: Report) -> None:
    found = claim(report, "qps(cache='hyper') / qps(cache='lru') >= 1.3", build=[OLD, NEW], threads="1")
    assert found.result == "fails"
    assert [(case.where, case.result) for case in found.worst] == [(f"overwrite, {NEW}", "fails")]


def test_nowhere(report: Report) -> None:
    found = claim(report, "qps(cache='hyper') > 1", step="fillseq")
    assert (found.result, numbers(found)) == ("undecided", ["no cell of the sweep is at these points"])


@pytest.mark.parametrize(
    ("least", "result", "more"), [(1.1, "holds", ""), (2.0, "fails", ""), (1.4, "undecided", "; not enough repeats")]
)
def test_one_load_decides_what_is_far_off(tmp_path: Path, least: float, result: str, more: str) -> None:
    found = Experiment(tmp_path, loads=1, threads=("1",))
    found.add_build(NEW)
    found.add_load(NEW, 0)
    for cache, rate in (("lru", 10_000), ("hyper", 15_000)):
        found.add(NEW, cache, "1", 0, {"readww": rate, "overwrite": rate})
    said = claim(made(found), f"qps(cache='hyper') / qps(cache='lru') >= {least}", step="readww")
    assert said.result == result
    assert numbers(said) == [f"1.50 [1.20, 1.87], one load, taken for within 25 %{more}"]


def two_loads(root: Path, *rates: float) -> Report:
    found = Experiment(root, loads=len(rates), threads=("1",))
    found.add_build(NEW)
    for load, rate in enumerate(rates):
        found.add_load(NEW, load)
        found.add(NEW, "lru", "1", load, {"readww": 10_000, "overwrite": 10_000})
        found.add(NEW, "hyper", "1", load, {"readww": rate, "overwrite": rate})
    return made(found)


def test_loads_that_agree_by_far_decide_although_their_interval_is_wide(tmp_path: Path) -> None:
    report = two_loads(tmp_path, 10_000, 20_000)
    said = claim(report, "qps(cache='hyper') / qps(cache='lru') >= 10", step="readww")
    assert (said.result, numbers(said)) == (
        "fails",
        ["1.41 [no telling], and every load says so by more than a quarter"],
    )
    open_ = claim(report, "qps(cache='hyper') / qps(cache='lru') >= 2", step="readww")
    assert (open_.result, numbers(open_)) == ("undecided", ["1.41 [no telling]; not enough repeats"])


def test_a_claim_across_builds_of_different_quality_is_marked(report: Report) -> None:
    expect = f"qps(build='{NEW}') >= qps(build='{OLD}') / 2"
    points = [point for section in report.sections for point in section.points]
    said = [{"claim": "c", "expect": expect, "where": {"step": "readww", "cache": "lru", "threads": "1"}}]
    (found,) = claims(said, report.axes, points, partial(caveat, report.builds))
    assert found.result == "holds"
    assert numbers(found)[1:] == [
        f"* {NEW} and {OLD} were built differently: suite bookworm / bullseye",
    ]
    (alike,) = claims(
        [{**said[0], "expect": f"qps(build='{NEW}') > 1"}], report.axes, points, partial(caveat, report.builds)
    )
    assert not any(each.startswith("*") for each in numbers(alike))
