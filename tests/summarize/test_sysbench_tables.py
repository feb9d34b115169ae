"""What a report of sysbench shows without being asked: no spec needs tables for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stepgrid.model.plan import Axis
from stepgrid.model.table import Table
from stepgrid.summarize import report_tables
from stepgrid.summarize.data.tables_reader import Run
from stepgrid.summarize.report_tables import TableInputs
from tests.summarize import made

AXES = (Axis("server", ("my", "pg")), Axis("range", ("10", "100"), ("read-only.pre", "read-only")))
BASE = {"server": "my"}
STEPS: tuple[tuple[str, dict[str, str], dict[str, float]], ...] = (
    ("load", {}, {"insert_seconds": 2.0, "seconds": 2.5, "data_bytes": 1.0}),
    ("settle", {}, {"data_bytes": 2.0**20, "database_bytes": 3.0 * 2**20}),
    ("scan.pre", {}, {"rows_per_s": 7000.0}),
    ("read-only.pre", {"range": "10"}, {}),
    ("read-only.pre", {"range": "100"}, {}),
    ("update-one", {}, {"ignored_errors": 4.0}),
    ("scan", {}, {"rows_per_s": 5000.0, "database_bytes": 4.0 * 2**20}),
    ("read-only", {"range": "10"}, {}),
    ("read-only", {"range": "100"}, {"database_bytes": 5.0 * 2**20}),
)
CPU = {"server_cpu_us_per_op": 20.5, "client_cpu_us_per_op": 7.0}
HOST = {"host_cpu_user_pct": 50.0, "host_cpu_system_pct": 50.0, "context_switches_per_s": 500.0}


def run(server: str, index: int) -> Run:
    step, variables, metrics = STEPS[index]
    measured = step not in ("load", "settle")
    qps = (100.0 if server == "my" else 150.0) + 10 * index
    return replace(
        made.run(server, 0, qps, **(CPU | HOST if measured else {}), **metrics),
        labels={"server": server, **variables},
        step=step,
        kind="quiesce" if step == "settle" else "sysbench",
        measured=measured,
        place=(f"s-{server}", index),
    )


RUNS = [run(server, index) for server in ("my", "pg") for index in range(len(STEPS))]


def tables(said: list[dict[str, Any]] | None = None, runs: list[Run] = RUNS) -> list[Table]:
    return report_tables.tables(said or [], TableInputs(AXES, runs, BASE))[0]


def rows(found: Table) -> list[str]:
    return [" ".join(cell.text for cell in row) for row in found.rows]


def of(title: str) -> list[tuple[str, list[str]]]:
    return [(table.block, rows(table)) for table in tables() if table.title == title]


def test_relative_figures_by_group_with_the_range_in_the_name() -> None:
    assert of("relative QPS by group") == [
        ("range queries without aggregation", ["1.31 scan", "1.42 scan.pre"]),
        (
            "range queries with aggregation",
            ["1.29 read-only_range=10", "1.38 read-only.pre_range=10", "1.28 read-only_range=100",
             "1.36 read-only.pre_range=100"],
        ),
        ("writes", ["1.33 update-one"]),
    ]  # fmt: skip


def test_absolute_figures_beside_them() -> None:
    assert of("QPS by group")[0] == (
        "range queries without aggregation",
        ["160 210 scan", "5000 5000 scan, rows/s", "120 170 scan.pre", "7000 7000 scan.pre, rows/s"],
    )


def test_before_and_after_the_writes_of_the_same_server() -> None:
    assert of("QPS after what writes, relative to before it") == [
        ("", ["1.33 1.24 scan", "1.31 1.22 read-only_range=10", "1.29 1.21 read-only_range=100"])
    ]


def test_the_load_though_it_is_not_measured_and_the_sizes_of_the_wait_behind_it() -> None:
    assert of("load and sizes") == [
        (
            "",
            ["my 100 2.50 2 - 1 MiB - 3 MiB 4 MiB", "pg 150 2.50 2 - 1 MiB - 3 MiB 4 MiB"],
        )
    ]


def test_errors_and_cpu() -> None:
    assert of("errors and reconnects") == [("ignored_errors, errors", ["update-one 4 4"])]
    assert of("CPU per operation")[0][1][0] == "20.5 + 7 20.5 + 7 scan"


def test_per_operation_a_table_for_each_step_and_range() -> None:
    found = of("per operation")
    assert [block for block, _ in found][:4] == [
        "scan.pre",
        "scan.pre",
        "read-only.pre, range=10",
        "read-only.pre, range=10",
    ]
    assert found[0][1] == ["0.833333 4.167 - - - 120 my", "0.588235 2.941 - - - 170 pg"]
    assert found[1][1] == ["0.71 0.71 - - - 1.42 pg"]


def test_of_many_steps_they_are_only_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_tables, "MOST_ROWS", 13)
    made, long = report_tables.tables([], TableInputs(AXES, RUNS, BASE))
    assert not [table for table in made if table.title == "per operation"]
    assert [each.name for each in long][:2] == ["per operation: scan.pre", "per operation: read-only.pre, range=10"]
    assert [table.name for each in long[:1] for table in each.make()] == ["per operation: scan.pre"] * 2


def test_a_spec_may_ask_for_the_load_alone() -> None:
    (found,) = tables([{"layout": "load", "where": {"server": "pg"}}])
    assert rows(found) == ["- 150 2.50 2 - 1 MiB - 3 MiB 4 MiB"]
    assert [column.name for column in found.columns][:2] == ["build", "rows/s"]


def test_without_a_load_there_is_no_table_of_it() -> None:
    rest = [each for each in RUNS if each.step != "load"]
    assert not [table for table in tables(runs=rest) if table.title == "load and sizes"]
    assert report_tables.load_steps(rest, ("insert_seconds",)) == []
    assert report_tables.load_steps(RUNS[:1], ("insert_seconds",)) == ["load"]
    assert report_tables.load_steps(RUNS, ("insert_seconds",)) == ["load", "settle", "scan"]


def test_after_the_writes_a_ratio_is_the_geometric_mean_over_the_loads() -> None:
    """Medians would say 300 / 200: 1.50."""
    rates = {("scan.pre", 0): 100.0, ("scan.pre", 1): 200.0, ("scan.pre", 2): 400.0,
             ("scan", 0): 300.0, ("scan", 1): 150.0, ("scan", 2): 800.0}  # fmt: skip
    found = [
        replace(run("my", 2), step=step, load=load, place=(f"s-{load}", int(step == "scan")), metrics={"qps": qps})
        for (step, load), qps in rates.items()
    ]
    (table,) = tables([{"layout": "before_after"}], found)
    assert rows(table) == ["1.65 scan"]
    assert table.rows[0][0].value == pytest.approx((3.0 * 0.75 * 2.0) ** (1 / 3))
