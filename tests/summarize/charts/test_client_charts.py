"""The page of steps whose clients report one by one: a chart for each arm, stalls marked, the target dashed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.figures import ClientRate, Figures
from stepgrid.plugins.importer import ImportedStep
from stepgrid.store.store import Store
from stepgrid.summarize.charts import client_charts, vega
from stepgrid.summarize.data.client_rates import ClientLine
from stepgrid.summarize.page.html import page
from stepgrid.summarize.refresh import current
from stepgrid.summarize.report import Report
from stepgrid.transfer.published_plan import planned
from stepgrid.transfer.published_results import publish

SECONDS = range(1, 21)
STALLS = (5, 12)


def rates(operation: str, rate: float, clients: int = 2) -> list[ClientRate]:
    """The second client stands still twice."""
    return [
        ClientRate(client, float(second), operation, 0.0 if client and second in STALLS else rate + client)
        for client in range(clients)
        for second in SECONDS
    ]


def step(build: str, name: str, *found: Sequence[ClientRate], **metrics: float) -> ImportedStep:
    return ImportedStep(build, name, Figures({"qps": 10.0, **metrics}, rates=[each for part in found for each in part]))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    asked = {"inserts_per_s": 200.0, "target_inserts_per_s": 250.0}
    steps = [
        step("a", "l.i0", rates("insert", 5000.0), rates("delete", 5000.0)),
        step("a", "q100", rates("insert", 100.0), rates("query", 900.0), **asked),
        step("b", "l.i0", rates("insert", 9000.0)),
        step("b", "q100", rates("insert", 100.0), rates("query", 400.0), **asked),
    ]
    made = planned("insert_benchmark", "title", "dir", steps)
    store = Store(Path(tmp_path_factory.mktemp("rates")) / "outputs")
    publish(store, made)
    return current(store, made.plan)


def charts(report: Report) -> Mapping[tuple[str, str], list[Mapping[str, Any]]]:
    """What is drawn of each step, by its title: the charts."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for section in report.sections:
        drawn: list[Mapping[str, Any]] = []

        def draw(chart: Mapping[str, Any], seen: list[Mapping[str, Any]] = drawn) -> str:
            seen.append(chart)
            return "<svg/>"

        left = client_charts.multiples(report, section, draw)
        each = iter(drawn)
        found |= {(section.step, part.title): [next(each) for _ in part.pictures] for part in left}
    return found


def test_a_chart_for_each_arm_of_what_the_step_does(report: Report) -> None:
    """Deletes go with the inserts, and are in the table alone."""
    assert {key: len(each) for key, each in charts(report).items()} == {
        ("l.i0", "rows inserted per second"): 2,
        ("q100", "rows inserted per second"): 2,
        ("q100", "queries per second"): 2,
    }


def test_stalls_are_ticks_and_the_target_is_that_of_a_client(report: Report) -> None:
    chart = charts(report)["q100", "rows inserted per second"][0]
    lines, ticks, asked = chart["layer"]
    assert lines["encoding"]["y"]["scale"]["domain"] == [0, 101.0]
    assert [each["second"] for each in ticks["data"]["values"]] == [*map(float, STALLS)]
    assert asked["data"]["values"] == [{"target": 125.0}]
    assert len(chart["data"]["values"]) == 2 * len(SECONDS)
    assert len(charts(report)["q100", "queries per second"][0]["layer"]) == 2


def test_of_long_runs_means_of_several_seconds_are_drawn(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_charts, "POINTS", 10)
    rows = charts(report)["q100", "queries per second"][0]["data"]["values"]
    assert len(rows) == 10
    assert rows[:2] == [{"second": 4.0, "rate": 900.0, "client": "0"}, {"second": 8.0, "rate": 900.0, "client": "0"}]
    assert rows[6] == {"second": 8.0, "rate": 901 * 3 / 4, "client": "1"}


@pytest.mark.parametrize(
    ("seconds", "drawn"), [([1.8, 2.8, 3.0], 2), ([1.8, 2.8, 3.3], 3), ([1.0], 1), ([0.8, 1.0], 1), ([], 0)]
)
def test_a_short_interval_at_the_end_is_no_point_of_the_line(seconds: list[float], drawn: int) -> None:
    """A rate says little of a fifth of a second: the rows of a kept one come when a second begins."""
    assert len(ClientLine(0, seconds, [5.0] * len(seconds)).whole) == drawn


def test_ticks_are_no_more_than_a_screen_can_show() -> None:
    seconds = [float(second) for second in range(1, 4001)]
    still = ClientLine(0, seconds, [1.0 if second % 2 else 0.0 for second in range(3999)] + [1.0])
    found = client_charts._stalls([still, still], 4000.0)
    assert len(found) == vega.WIDTH + 1
    assert found[:2] == [1.0, 11.0]
    assert client_charts._stalls([still], 4e6) == [1.0]


def test_the_page_shows_them_and_says_what_a_stall_is(report: Report) -> None:
    source = page(report)
    assert source.count("<h3>Rows inserted per second, by client</h3>") == 2
    assert source.count("<h3>Queries per second, by client</h3>") == 1
    assert source.count("Dashed: what each client was asked for.") == 1
    said = "are stalls: seconds in which a client did nothing, or less than a tenth of its median second."
    assert source.count(said) == 3
    labels = re.findall(r'<svg role="img" aria-label="(q100, a: .+?)"', source)
    assert labels == [f"q100, a: {what} of each client over time" for what in client_charts.DRAWN.values()]


def test_how_much_stalled_is_a_figure(report: Report) -> None:
    found = {section.step: section.points[0].runs[0].metrics for section in report.sections}
    assert found["l.i0"]["delete_stalled_pct"] == found["q100"]["query_stalled_pct"] == 5.0
    assert found["q100"]["target_met"] == 0.0
    assert "query_stalled_pct" not in found["l.i0"]
