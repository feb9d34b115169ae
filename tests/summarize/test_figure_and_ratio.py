"""Figures of an arm and of its base divide to the ratio beside them, in every form of a report."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stepgrid.host.terminal_output import Paint
from stepgrid.model.records import replace
from stepgrid.plan import plan_file
from stepgrid.summarize import report_formats
from stepgrid.summarize.data import tables_reader
from stepgrid.summarize.report import Report, make_report
from stepgrid.summarize.report_files import read_report
from stepgrid.summarize.summary_text import brief_lines
from stepgrid_page import html_page, json_document, markdown_post
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

LOADS, RUNS = 5, 2
BUILD = "rocksdb-7.8.3"
FIGURE = st.floats(1_000, 90_000)
CELL = st.lists(st.lists(FIGURE, min_size=RUNS, max_size=RUNS), min_size=LOADS, max_size=LOADS)
ALL = set(range(1, LOADS + 1))  # reports count from 1
SOME = st.sets(st.sampled_from(sorted(ALL)), min_size=1)
Cell = Sequence[Sequence[float]]  # load -> runs


class Made:
    """A report of an arm `hyper` and its base `lru`, whose figures a test chooses."""

    def __init__(self, root: Path) -> None:
        self.experiment = Experiment(root, threads=("1",), loads=LOADS, runs=RUNS)
        self.experiment.add_build(BUILD)
        for load in range(LOADS):
            self.experiment.add_load(BUILD, load)
            for run in range(RUNS):
                for cache in ("lru", "hyper"):
                    self.experiment.add(BUILD, cache, "1", load, {"readww": 1000.0, "overwrite": 1000.0}, run)
        scenario.report(self.experiment)
        store, digest = self.experiment.store, self.experiment.plan.digest
        self.header = plan_file.read(store.plan(digest))
        self.tables = tables_reader.load(store.tables(digest), [axis.name for axis in self.header.axes])
        assert read_report(store, digest).comparisons.all

    def report(self, cells: Mapping[str, Cell], loads: Mapping[str, set[int]]) -> Report:
        runs = []
        for run in self.tables.runs:
            cell = cells.get(run.labels.get("cache", ""))
            if run.step != "readww" or cell is None:
                continue
            is_there = run.load in loads[run.labels["cache"]]
            metrics = {"qps": cell[run.load - 1][run.run - 1]} if is_there else {}
            runs.append(replace(run, metrics=metrics, status="done" if is_there else "missing"))
        return make_report(self.header, replace(self.tables, runs=tuple(runs)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("figures"))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(CELL, CELL, SOME)
def test_figures_divide_to_the_ratio(made: Made, arm: Cell, base: Cell, loads: set[int]) -> None:
    report = made.report({"hyper": arm, "lru": base}, {"hyper": loads, "lru": loads})
    document = json.loads(json_document.report_json(report))
    [ratio] = document["comparisons"]
    figures = {figure["point"]["cache"]: figure["metrics"]["qps"] for figure in document["figures"]}
    assert figures["hyper"]["mean"] / figures["lru"]["mean"] == pytest.approx(ratio["ratio"])
    for figure in figures.values():
        assert figure["lowest"] <= figure["mean"] <= figure["highest"]
    if len(loads) > 1:
        low, high = ratio["interval"]
        assert low is None or low <= ratio["ratio"] * (1 + 1e-12)
        assert high is None or high >= ratio["ratio"] * (1 - 1e-12)
    _check_forms(report)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(CELL, CELL, SOME, SOME)
def test_of_unequal_loads_the_figures_of_common_ones_do(
    made: Made, arm: Cell, base: Cell, loads: set[int], base_loads: set[int]
) -> None:
    assume(loads != base_loads and loads & base_loads)
    report = made.report({"hyper": arm, "lru": base}, {"hyper": loads, "lru": base_loads})
    [ratio] = json.loads(json_document.report_json(report))["comparisons"]
    [note] = [note for note in ratio["notes"] if "that both have" in note]
    count, *figures = re.search(r"in the (\d) loads? that both have (\S+), (\S+) of the base", note).groups()
    assert int(count) == len(loads & base_loads)
    arm_figure, base_figure = map(_number, figures)
    assert arm_figure / base_figure == pytest.approx(ratio["ratio"], rel=0.011)
    assert note in " ".join(report_formats.report_text(report, "text", None).split())
    assert re.search(r"\d× †", markdown_post.markdown(report))
    assert "× †<" in html_page.page(report)
    assert any(re.search(r"\d×†", line) for line in brief_lines(report, None, 100, Paint()))


def _check_forms(report: Report) -> None:
    """Compare what is printed, as far as its digits go."""
    [row] = re.findall(r"^\| readww +\| +([^|]+?) \| +(.+?) \|$", markdown_post.markdown(report), re.M)
    _check_cells(row[0], row[1])
    lines = brief_lines(report, None, 100, Paint())
    [brief] = [line for line in lines if line.startswith("  readww  ")]
    _check_cells(*re.split(r"  +", brief.strip())[1:3])
    text = report_formats.report_text(report, "text", None)
    table = text[text.index("QPS relative to") :]
    relative = re.search(r"^  readww +(\S+)(?: ± (?:over )?[\d.]+ %)? +(?:[\d.]+ % +)?([\d.e+-]+)", table, re.M)
    figures = [
        line.split() for line in text.partition("absolute figures")[2].splitlines() if "lru" in line or "hyper" in line
    ]
    by_cache = {("hyper" if "hyper" in words else "lru"): words for words in figures[:2]}
    base, arm = (_number(words[words.index(cache) + 1]) for cache, words in sorted(by_cache.items(), reverse=True))
    assert relative, table
    assert _number(relative[1]) == pytest.approx(base, rel=0.006)
    _check(arm, base, relative[2])


def _check_cells(base: str, arm: str) -> None:
    figure, *words = arm.split()
    ratio = re.search(r"([\d.,]+)×", words[-1])
    assert ratio, arm
    _check(_number(figure), _number(base), ratio[1])


def _check(arm: float, base: float, ratio: str) -> None:
    digits = len(ratio.partition(".")[2])
    assert arm / base == pytest.approx(_number(ratio), abs=0.51 * 10**-digits + 0.011 * _number(ratio))


def _number(text: str) -> float:
    """Read a figure, without how far its interval reaches."""
    text = text.split(" ")[0]
    factor = {"k": 1e3, "M": 1e6, "B": 1e9}.get(text[-1], 1.0)
    return float(text.rstrip("kMB").replace(",", "")) * factor
