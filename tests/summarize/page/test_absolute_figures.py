"""The table of absolute figures of a step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.page import absolute_figures, html
from stepgrid.summarize.page.absolute_figures import table
from stepgrid.summarize.report import Report
from tests.summarize import made, scenario

REPORT = SimpleNamespace(
    data=SimpleNamespace(series=SimpleNamespace(steadiness={})),
    setup=SimpleNamespace(units={"get_qps": "operations/s"}),
)


def _heads(**metrics: float) -> dict[str, str]:
    """The last row by column."""
    point = made.point(made.run("a", 0, 9.0, **metrics))
    section = cast(Section, SimpleNamespace(step="read", names=("arm",), points=(point,)))
    found = table.__wrapped__(cast(Report, REPORT), section)
    return {column.name: cell.text for column, cell in zip(found.columns, found.rows[-1], strict=True)}


def test_the_cpu_of_client_and_server_stand_beside_that_of_both() -> None:
    shown = _heads(cpu_us_per_op=27.5, client_cpu_us_per_op=7.0, server_cpu_us_per_op=20.5)
    assert (shown["CPU/op"], shown["client CPU"], shown["server CPU"]) == ("27.5", "7.00", "20.5")


def test_an_engine_within_its_client_has_one_figure() -> None:
    shown: dict[str, Any] = _heads(cpu_us_per_op=27.5)
    assert shown["CPU/op"] == "27.5"
    assert not {"client CPU", "server CPU"} & shown.keys()


def test_a_metric_that_a_command_names_stands_in_the_table_of_its_step() -> None:
    """Often it is all that there is."""
    point = made.point(replace(made.run("a", 0, 9.0), metrics={"get_qps": 4321.0, "host_cpu_user_pct": 3.0}))
    section = cast(Section, SimpleNamespace(step="get", names=("arm",), points=(point,)))
    found = table.__wrapped__(cast(Report, REPORT), section)
    assert [column.head for column in found.columns] == ["arm", "get_qps (operations/s)"]
    assert [cell.text for cell in found.rows[0]] == ["a", "4,321"]


def test_the_page_says_what_each_column_is(tmp_path: Path) -> None:
    report = scenario.report(scenario.experiment(tmp_path))
    found = dict(absolute_figures.meanings(report))
    assert found["CPU/op"].startswith("cpu_seconds / operations, ")
    assert "tombstones" not in found, "no table has it"
    assert f"<dt>CPU/op</dt><dd>{found['CPU/op']}</dd>" in html.page(report)
