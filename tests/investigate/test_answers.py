"""The best, the front and what each option does, of figures that are known functions of the options."""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid.model.plan import (
    AdaptiveRepeat,
    Plan,
    PlannedAxis,
    PlannedBest,
    PlannedDesign,
    PlannedReport,
    PlannedTune,
)
from stepgrid.model.records import replace
from stepgrid.plugins.design import DesignRequest, Factor
from stepgrid.plugins.registry import DESIGNS
from stepgrid.summarize import report_formats, summary_text
from stepgrid.summarize.comparisons.decisions import LoadCosts
from stepgrid.summarize.data.tables_reader import Run
from stepgrid.summarize.report import GridAnswer, Report, make_report
from stepgrid_investigate.effects import PAIRS, fit_effects
from stepgrid_page import json_document, markdown_post
from tests.golden import Golden
from tests.summarize import made

LABELS = {"cache": ("small", "mid", "big"), "comp": ("none", "lz4", "zstd"), "jobs": ("1", "4", "16")}
AXES = tuple(PlannedAxis(name, labels) for name, labels in LABELS.items())
BASE = {"cache": "small", "comp": "none", "jobs": "1"}
TIMES = {"mid": 1.3, "big": 1.5, "lz4": 1.1, "zstd": 0.8, "4": 1.0, "16": 1.0}


def qps(cell: Mapping[str, str], together: float = 1.2) -> float:
    """What options do alone, and a large cache with zstd beyond that."""
    level = math.prod(TIMES.get(label, 1.0) for label in cell.values())
    return 1000 * level * (together if (cell.get("cache"), cell.get("comp")) == ("big", "zstd") else 1.0)


def runs(cells: Iterator[Mapping[str, str]], loads: int, noise: float, together: float = 1.2) -> Iterator[Run]:
    random = Random(1)
    for cell in cells:
        size = {"none": 4e9, "lz4": 2.5e9, "zstd": 1.5e9}[cell["comp"]]
        for load in range(loads):
            rate = qps(cell, together) * math.exp(random.gauss(0, noise))
            run = made.run(" ".join(cell.values()), load, rate, database_bytes=size)
            yield replace(run, labels={**cell})


def whole_grid() -> Iterator[Mapping[str, str]]:
    return (dict(zip(LABELS, values, strict=True)) for values in product(*LABELS.values()))


def report(
    figures: Iterator[Run], design: PlannedDesign | None = None, until: AdaptiveRepeat | None = None, **asked: object
) -> Report:
    head = PlannedReport(BASE, **asked)  # type: ignore[arg-type]
    plan = Plan("p", "a surface", "a.yaml", None, AXES, (), (), (), {}, head, design=design, until=until)
    return make_report(plan, made.tables(figures))


@pytest.fixture(scope="module")
def answers() -> Report:
    best = PlannedBest("qps", where="database_bytes < 3GiB")
    front, design = (("qps", False), ("database_bytes", True)), PlannedDesign("fractional", 5, 27)
    return report(runs(whole_grid(), 3, 0.004), design, best=best, pareto=front)


def test_answers_in_words_and_tables(answers: Report, golden: Golden) -> None:
    text = summary_text.text(answers, None)
    begin, end = text.index("readww: best QPS of 18"), text.index("QPS relative to")
    golden(text[begin:end])


def test_each_form_of_a_report_has_them(answers: Report) -> None:
    answer = answers.grid_answers[0].sentences[0]
    assert "(95 %): cache=big, comp=lz4, jobs=" in answer
    document = json_document.report_document(answers)["grid_answers"]
    assert [one["kind"] for one in document] == ["best", "pareto", "effects"]
    assert document[0]["sentences"][0] == answer
    page = report_formats.report_text(answers, "html", None)
    for text in (markdown_post.markdown(answers).replace("\\", ""), page):
        assert answer in text
    assert page.count('<figure class="picture"><svg class="chart"') == 2  # the best, and the front


def test_with_one_load_nothing_is_sure() -> None:
    best = PlannedBest("qps")
    found = report(
        runs(whole_grid(), 1, 0.004),
        PlannedDesign("latin", None, 27),
        best=best,
        pareto=(("qps", False), ("database_bytes", True)),
    )
    words = " ".join(sentence for one in found.grid_answers for sentence in one.sentences)
    assert "with one load of each nobody knows if it is the best" in words
    assert "none of 27 cells is surely beaten" in words
    assert {row[-1].text for row in found.grid_answers[2].tables[1].rows} == {"one load"}
    assert not any("95 %" in note for table in found.grid_answers[2].tables for note in table.notes)


@pytest.mark.parametrize(
    ("where", "answer"),
    [
        ("qps >= 1.8k", "no cell takes part; cache=big, comp=lz4, jobs=1 comes nearest: qps 1.65k"),
        ("qps > 2000 and database_bytes < 1GiB", "no cell takes part"),
        ("qps > 1500 and jobs == '16'", "only cache=big, comp=lz4, jobs=16 takes part"),
    ],
)
def test_a_condition_that_hardly_a_cell_meets(where: str, answer: str) -> None:
    (only,) = report(runs(whole_grid(), 1, 0.0), best=PlannedBest("qps", where=where)).grid_answers
    assert only.sentences[0] == f"readww: {answer}"
    assert f"cells left out: `{where}` is not met: " in only.sentences[1]


def test_a_race_adds_nothing_while_loads_of_its_round_are_missing() -> None:
    """Whoever looks at a report in the middle of a round sees figures of a part."""
    figures, race = list(runs(whole_grid(), 3, 0.05)), AdaptiveRepeat(1, 8, is_race=True)
    (whole,) = report(iter(figures), until=race, best=PlannedBest("qps")).grid_answers
    assert "get more loads" in whole.sentences[2]
    assert whole.loads
    figures[-1] = replace(figures[-1], status="missing", metrics={})
    (part,) = report(iter(figures), until=race, best=PlannedBest("qps")).grid_answers
    assert part.sentences[2].endswith("; 1 load is missing")
    assert not part.loads


def test_a_small_grid_without_a_question_has_no_answers() -> None:
    assert report(runs(whole_grid(), 3, 0.004)).grid_answers == ()


@pytest.mark.parametrize(
    ("name", "number"), [("one-at-a-time", None), ("latin", None), ("sample", 16), ("fractional", 3)]
)
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99))
def test_a_design_tells_the_effects_of_an_additive_surface(name: str, number: int | None, seed: int) -> None:
    factors = tuple(Factor(axis, len(labels)) for axis, labels in LABELS.items())
    rows = DESIGNS.get(name).choose(DesignRequest(factors, number, seed, lambda row: True)).rows
    cells = ({axis: LABELS[axis][at] for axis, at in zip(LABELS, row, strict=True)} for row in rows)
    points = [made.point(run) for run in runs(cells, 1, 0.0, together=1.0)]
    effects = fit_effects(points, AXES, BASE, "qps", 0.05)
    ratios = {effect.levels[0][1]: effect.ratio for effect in effects.main}
    assert ratios == pytest.approx(TIMES)
    shares = {one.name: one.share for one in effects.importance}
    assert shares["cache"] > shares["comp"] > shares["jobs"] == pytest.approx(0)


def test_the_shares_of_a_whole_grid_are_those_of_its_function() -> None:
    points = [made.point(run) for run in runs(whole_grid(), 1, 0.0)]
    logs = {tuple(cell.values()): math.log(qps(cell)) for cell in whole_grid()}
    middle = sum(logs.values()) / 27
    means = {label: sum(log for key, log in logs.items() if label in key) / 9 - middle for label in LABELS["cache"]}
    variance = sum((log - middle) ** 2 for log in logs.values()) / 27
    effects = fit_effects(points, AXES, BASE, "qps", 0.05)
    shares = {one.name: one.share for one in effects.importance}
    assert shares["cache"] == pytest.approx(sum(mean**2 for mean in means.values()) / 3 / variance)
    assert shares[PAIRS] > 0.01
    assert sum(shares.values()) == pytest.approx(1)
    assert effects.confounded == ()
    together = {effect.name: effect.ratio for effect in effects.pairs}
    assert together["cache=big, comp=zstd"] == pytest.approx(1.2)
    assert together["cache=mid, comp=lz4"] == pytest.approx(1)


def test_what_cells_cannot_tell_is_not_said() -> None:
    """Nine cells of a Latin square have no room for pairs, and two of them not for effects."""
    factors = tuple(Factor(axis, len(labels)) for axis, labels in LABELS.items())
    rows = DESIGNS.get("latin").choose(DesignRequest(factors, None, 1, lambda row: True)).rows
    cells = [{axis: LABELS[axis][at] for axis, at in zip(LABELS, row, strict=True)} for row in rows]
    points = [made.point(run) for run in runs(iter(cells), 1, 0.0)]
    effects = fit_effects(points, AXES, BASE, "qps", 0.05)
    assert len(effects.confounded) == 3
    assert effects.pairs == ()
    assert fit_effects(points[:2], AXES, BASE, "qps", 0.05).main == ()
    sentences = report(runs(iter(cells), 3, 0.0), PlannedDesign("latin", None, 27)).grid_answers[0].sentences
    assert "jobs: less than 2 %" in sentences[0]  # as far as it works alone, so that it is not called fixed
    assert "may be fixed" not in sentences[0]


def test_options_that_move_alike_have_no_shares() -> None:
    """Nor do those that only matter with another one."""
    alike = (cell for cell in whole_grid() if LABELS["jobs"].index(cell["jobs"]) == LABELS["comp"].index(cell["comp"]))
    answer = report(runs(alike, 3, 0.0), PlannedDesign("sample", 9, 27)).grid_answers[0]
    assert "the cells do not tell apart comp, jobs, so no shares" in answer.sentences[0]
    assert [row[0].text for table in answer.tables for row in table.rows] == ["cache=mid", "cache=big"]


def test_an_option_that_matters_only_with_another_is_not_fixed() -> None:
    figures = (
        made.run(" ".join(cell.values()), load, 1000 * 2 ** ((cell["cache"] == "big") ^ (cell["jobs"] == "16")))
        for cell in whole_grid() if cell["cache"] != "mid" and cell["jobs"] != "4" for load in range(3)
    )  # fmt: skip
    figures = (replace(run, labels=dict(zip(LABELS, run.cell.split(), strict=True))) for run in figures)
    text = report(figures, PlannedDesign("fractional", 5, 12)).grid_answers[0].sentences[0]
    assert "; comp: less than 2 %, may be fixed in the next sweep; " in text
    assert text.endswith(": less than 2 % each by itself")


THE_BEST = PlannedReport(BASE, best=PlannedBest("qps"))
FRONT = PlannedReport(BASE, pareto=(("qps", False), ("database_bytes", True)))


def search(
    figures: Iterator[Run],
    *finalists: str,
    seconds: float = 0.0,
    load: float = 0.0,
    head: PlannedReport = THE_BEST,
    **more: Any,
) -> GridAnswer:
    """Return the answer of a search that tried the whole grid, or as much as there is of it, a second each."""
    tries = list(figures)
    cells = tuple(made.cell({**run.labels, "build": "b"}, run.cell) for run in tries if run.load == 1)
    tune = PlannedTune("key", AXES, (), seed=1, confirm=5, finalists=finalists, **{"tries": 27, **more})
    plan = Plan("p", "a search", "a.yaml", None, AXES, cells, (), (), {}, head, tune=tune)
    costs = LoadCosts(seconds, {run.cell: {run.cell: 1.0, "shared load": load} for run in tries})
    (answer,) = (one for one in make_report(plan, made.tables(tries), costs).grid_answers if one.key == "tune")
    return answer


def first_loads(loads: int, *finalists: str) -> Iterator[Run]:
    for run in runs(whole_grid(), loads, 0.004):
        if run.load < 1 or run.cell in finalists:
            yield replace(run, load=run.load + 1)


def test_a_search_judges_its_own_finalists_by_the_fresh_loads_that_have_figures() -> None:
    """Loads of another search do not end it; a load that failed hides no answer, and is named."""
    best, near, base = "big lz4 1", "big lz4 4", "small none 1"
    chosen = search(first_loads(6, "mid none 1", base)).finalists
    assert best in chosen
    assert "mid none 1" not in chosen
    lost = {(near, load) for load in (3, 4, 5, 6)} | {(best, 2)}
    figures = [
        replace(run, status="failed", metrics={}) if (run.cell, run.load) in lost else run
        for run in first_loads(6, best, near, base, "mid none 1")
    ]
    answer = search(iter(figures), best, near, base)
    words = " ".join(answer.sentences)
    assert re.search(r"cache=big, comp=lz4, jobs=1 has 1\.6\d× .* of the base.* by 4 fresh loads", words)
    assert "cache=big, comp=lz4, jobs=1: figures of 4 of 5 fresh loads" in words
    assert "cache=big, comp=lz4, jobs=4: figures of 1 of 5 fresh loads" in words
    assert not answer.finalists
    assert len(answer.tables[0].rows) == 2
    waiting = (replace(run, status="missing", metrics={}) if (run.cell, run.load) in lost else run for run in figures)
    assert search(waiting, best, near, base).sentences[0] == "readww: 2 finalists wait for fresh loads"


def test_finalists_of_a_front_are_spread_along_it() -> None:
    tries = [
        replace(run, metrics={"qps": 1.05**size, "database_bytes": 1.05**size})
        for size, run in enumerate(first_loads(1))
    ]
    places = {run.cell: place for place, run in enumerate(tries)}
    front = search(iter(tries), head=FRONT).finalists
    assert sorted(map(places.__getitem__, front)) == [0, 6, 13, 26]


def test_a_search_keeps_to_what_the_grid_has_and_to_its_budget() -> None:
    some = [run for run in first_loads(1) if "1" in run.cell.split() or "none" in run.cell]
    forbidden = [{"cache": "big", "comp": "lz4"}, {"jobs": "16"}]
    proposals = search(iter(some), forbidden=forbidden).points
    assert {tuple(sorted(point.values())) for point in proposals} == {
        tuple(sorted(values)) for values in product(("small", "mid"), ("lz4", "zstd"), "4")
    } | {("4", "big", "zstd")}
    shared = 100 + len(some) + 5 * (100 + 5) + 3  # one load of 100 s for all tries, and five for all finalists
    assert len(search(iter(some), seconds=100 + len(some), load=100, budget=shared).points) == 3
    budgets = {seconds: search(first_loads(1), seconds=27, budget=seconds) for seconds in (60, 42, 30)}
    assert [len(answer.finalists) for answer in budgets.values()] == [5, 3, 0]
    assert "`budget: 30s` leaves no time for fresh loads" in budgets[30].sentences[0]
