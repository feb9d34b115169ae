"""The chart of recall against QPS: every search is a mark, the best of each build are joined."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.figures import Figures
from stepgrid.plugins.importer import ImportedStep
from stepgrid.store.store import Store
from stepgrid.summarize.charts import recall_chart
from stepgrid.summarize.charts.recall_chart import Search, pareto
from stepgrid.summarize.page.html import page
from stepgrid.summarize.refresh import current
from stepgrid.summarize.report import Report
from stepgrid.transfer.published_plan import planned
from stepgrid.transfer.published_results import publish

FIGURES = {
    "MariaDB": [(0.8, 900.0), (0.95, 700.0), (0.9, 600.0), (0.99, 300.0)],
    "PGVector": [(0.9, 800.0), (1.0, 100.0)],
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    steps = [
        ImportedStep(build, "search", Figures({"recall": recall, "qps": qps}), variables={"ef_search": str(number)})
        for build, found in FIGURES.items()
        for number, (recall, qps) in enumerate(found)
    ]
    steps.append(ImportedStep("PGVector", "load", Figures({"qps": 10.0})))
    steps += [ImportedStep(build, "exact", Figures({"recall": 1.0, "qps": 10.0})) for build in FIGURES]
    made = planned("vector_search", "title", "dir", steps)
    store = Store(Path(tmp_path_factory.mktemp("recall")) / "outputs")
    publish(store, made)
    return current(store, made.plan)


def test_marks_and_lines(report: Report) -> None:
    drawn: list[Mapping[str, Any]] = []

    def draw(chart: Mapping[str, Any]) -> str:
        drawn.append(chart)
        return "<svg/>"

    pictures = {section.step: recall_chart.picture(report, section, draw) for section in report.sections}
    assert {step: picture and picture.title for step, picture in pictures.items()} == {
        "search": "search: recall and QPS",
        "load": None,
        "exact": None,
    }
    (chart,) = drawn
    marks, lines = chart["data"]["values"], chart["layer"][1]["data"]["values"]
    assert {(each["build"], each["recall"], each["qps"]) for each in marks} == {
        (build, *pair) for build, found in FIGURES.items() for pair in found
    }
    assert [(each["build"], each["recall"]) for each in lines] == [
        ("MariaDB", 0.8), ("MariaDB", 0.95), ("MariaDB", 0.99), ("PGVector", 0.9), ("PGVector", 1.0),
    ]  # fmt: skip


def test_the_page_has_it_once(report: Report) -> None:
    found = page(report)
    assert found.count("<h3>Recall and QPS</h3>") == 1
    assert 'aria-label="search: recall and QPS"' in found


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(1, 1e6)), min_size=1, max_size=30))
def test_nothing_on_the_line_is_beaten_and_everything_beside_it_is(pairs: list[tuple[float, float]]) -> None:
    searches = [Search("a", *pair) for pair in pairs]
    best = pareto(searches)
    assert best == sorted(best)
    for each in searches:
        beaten = any(
            other.recall >= each.recall and other.qps >= each.qps and other[1:] != each[1:] for other in searches
        )
        assert (each in best) != beaten
