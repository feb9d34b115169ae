"""A report counts loads and runs from 1, in the text, on the page and in its charts."""

from __future__ import annotations

from pathlib import Path

from stepgrid.summarize import html_page
from stepgrid.summarize.report import Report
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

BUILD = "rocksdb-7.8.3"


def made(root: Path, runs: int = 1) -> tuple[Experiment, Report]:
    """The third load of hyper is far off."""
    found = Experiment(root, threads=("1",), loads=8, runs=runs, seconds=8)
    found.add_build(BUILD)
    for load in range(8):
        found.add_load(BUILD, load)
        for run in range(runs):
            for cache, rate in (("lru", 1000.0), ("hyper", 3000.0 if load == 2 else 1001.0 + load)):
                found.add(BUILD, cache, "1", load, {"readww": [rate + load] * 8, "overwrite": [rate - load] * 8}, run)
    return found, scenario.report(found)


def test_a_load_that_lies_far_off(tmp_path: Path) -> None:
    found, report = made(tmp_path)
    assert "† load 3 lies far from the others" in scenario.text(found)
    assert "load 3 lies far from the others" in html_page.page(report)
    (doubt,) = [doubt for doubt in report.notes.doubts if doubt.brief.startswith("load ")]
    assert doubt.brief == "load 3: far off in 2 ratios"
