"""The tables that a spec names, and those that are shown where it names none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepgrid.collect.job import collect
from stepgrid.model.table import Table
from stepgrid.summarize import report_tables
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_files import read_report
from tests.summarize import scenario
from tests.summarize.scenario import NEW, OLD


def shown(root: Path, **said: Any) -> Report:
    found = scenario.experiment(root, **said)
    collect(found.store, found.plan)
    return read_report(found.store, found.plan.digest)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return shown(tmp_path_factory.mktemp("shown"), tables=TABLES)


def lines(table: Table) -> list[str]:
    heads = " | ".join(column.name for column in table.columns)
    return [heads, *(" | ".join(cell.text for cell in row) for row in table.rows)]


ONE = {"build": NEW, "cache": "lru", "threads": "1"}
TABLES: tuple[dict[str, Any], ...] = (
    {
        "title": "by release",
        "rows": ["step"],
        "columns": ["build"],
        "by": ["cache"],
        "where": {"threads": "1"},
        "labels": {OLD: "6.11", "hyper": "clock", "readww": "reads", "step": "what is run"},
    },
    {
        "title": "against lru",
        "rows": ["build"],
        "columns": ["cache"],
        "where": {"step": "readww", "threads": "1"},
        "base": {"cache": "lru"},
    },
    {"title": "two metrics", "rows": ["build"], "where": {"step": "fillseq"}, "metrics": ["qps", "p99"]},
    {"title": "overwrite by threads", "rows": ["cache"], "columns": ["threads"],
     "where": {"step": "overwrite", "build": NEW, "cache": "lru"}},
    {"title": "untouched", "rows": ["cache"], "where": {"step": "fillseq", "build": NEW}},
    {"title": "shared", "rows": ["step"], "columns": ["cache"], "where": {"build": "rocksdb", "threads": "1"}},
    {"title": "base elsewhere", "rows": ["cache"], "where": {"step": "readww", "threads": "2", "build": NEW},
     "base": {"threads": "1"}},
    {"layout": "percentiles", "where": {"step": "readww", "build": NEW}},
    {"layout": "percentiles", "title": "of the load", "rows": ["cache"], "where": {"step": "fillseq", "build": NEW}},
    {"title": "last second", "rows": ["step"], "where": ONE, "window": ["2s"]},
    {"title": "long", "rows": ["step"], "where": ONE, "window": ["5s", "9s"]},
)  # fmt: skip


def of(report: Report, title: str) -> list[tuple[str, list[str]]]:
    return [(table.block, lines(table)) for table in report.tables.made if table.title == title]


def test_blocks_rows_and_columns_with_labels(report: Report) -> None:
    assert of(report, "by release") == [
        (
            "cache=lru, qps, operations/s",
            [f"what is run | 6.11 | {NEW}", "fillseq | 300,000 | 300,000", "reads | 10,000 | 10,000",
             "overwrite | 18,100 | 18,100"],
        ),
        (
            "cache=clock, qps, operations/s",
            [f"what is run | 6.11 | {NEW}", "fillseq | 300,000 | 300,000", "reads | unsupported | 15,000",
             "overwrite | unsupported | 20,000"],
        ),
    ]  # fmt: skip


def test_ratios_to_a_base(report: Report) -> None:
    (table,) = [table for table in report.tables.made if table.title == "against lru"]
    assert table.before == ("relative to cache=lru",)
    assert lines(table) == ["build | lru | hyper", f"{OLD} | 1.00 | unsupported", f"{NEW} | 1.00 | 1.50 ±0.01"]
    assert table.rows[1][2].value == pytest.approx(1.5)
    assert table.notes == ("±: the 95 % interval, its longer side; those of a step and base hold together",)


def test_a_base_that_the_table_does_not_show(report: Report) -> None:
    assert of(report, "base elsewhere") == [("readww", ["cache | qps", "lru | 2.00 ±0.02", "hyper | failed"])]


def test_metrics_go_across_where_no_axis_does(report: Report) -> None:
    assert of(report, "two metrics") == [
        ("fillseq", ["build | qps | p99_us", f"{OLD} | 300,000 | 16.7", f"{NEW} | 300,000 | 16.7"])
    ]


def test_an_axis_that_does_not_touch_a_step_has_one_row(report: Report) -> None:
    assert of(report, "untouched") == [("fillseq", ["cache | qps", "- | 300,000"])]


def test_a_bare_number_above_a_column_says_what_it_is_of_and_a_title_that_names_the_step_is_enough(
    report: Report,
) -> None:
    assert of(report, "overwrite by threads") == [
        ("qps, operations/s", ["cache | threads=1 | threads=2", "lru | 18,100 | 36,200"])
    ]


def test_one_measurement_is_shown_once_and_a_family_is_its_builds(report: Report) -> None:
    found = dict(of(report, "shared"))
    assert list(found) == [f"{OLD}, qps, operations/s", f"{NEW}, qps, operations/s"]
    assert found[f"{NEW}, qps, operations/s"] == [
        "step | lru | hyper",
        "fillseq | 300,000 | same as lru",
        "readww | 10,000 | 15,000",
        "overwrite | 18,100 | 20,000",
    ]


def test_a_published_layout(report: Report) -> None:
    assert of(report, "response time") == [
        (
            "readww",
            ["p50 | p99 | p99.9 | p99.99 | pmax | version", "100.0 | 500 | 900 | 2000 | 14649 | cache=lru threads=1",
             "50.0 | 250 | 450 | 1000 | 14649 | cache=lru threads=2",
             "66.7 | 333 | 600 | 1333 | 14649 | cache=hyper threads=1",
             "failed | failed | failed | failed | failed | cache=hyper threads=2"],
        )
    ]  # fmt: skip


def test_a_line_that_no_axis_names_has_the_build(report: Report) -> None:
    ((_, (_, line)),) = of(report, "of the load")
    assert line.endswith(f" | {NEW}")


def test_the_last_seconds_of_each_step(report: Report) -> None:
    """Of overwrite the last of ten seconds is a tenth; 9 and 10: (20000 + 1000) / 2."""
    assert of(report, "last second") == [
        ("", ["step | qps", "fillseq | 300,000", "readww | 10,000", "overwrite | 10,500"])
    ]


def test_a_step_that_does_not_last_so_long_is_not_in_the_table(report: Report) -> None:
    assert of(report, "long") == [("", ["step | qps", "overwrite | 20,000"])]


def test_without_tables_a_kind_shows_its_own(tmp_path: Path) -> None:
    found = shown(tmp_path)
    assert not found.tables.are_chosen
    assert list(dict.fromkeys(table.title for table in found.tables.made)) == ["response time"]
    hidden = {(name.partition(":")[0], why) for name, why in found.tables.hidden}
    assert hidden == {("relative QPS", report_tables.REPEATED)}
