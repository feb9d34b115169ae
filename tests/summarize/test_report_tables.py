"""The tables that a spec asks for, and those that are shown where it asks for none."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from stepgrid.collect.job import collect
from stepgrid.model.plan import PlannedAxis
from stepgrid.model.records import replace
from stepgrid.model.table import MOST_ROWS, Cell, Column, Table
from stepgrid.summarize import report_formats, report_tables, summary_text
from stepgrid.summarize.absolute_figures import table
from stepgrid.summarize.comparisons.comparison_axes import StepPoints
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_files import read_report
from stepgrid_page import html_page
from tests.summarize import made, scenario
from tests.summarize.scenario import NEW, OLD

ONE = {"build": NEW, "cache": "lru", "threads": "1"}
REQUESTS = {
    "blocks, rows and columns with labels": (
        {"rows": ["step"], "columns": ["build"], "by": ["cache"], "where": {"threads": "1"},
         "labels": {OLD: "6.11", "hyper": "clock", "readww": "reads", "step": "what is run"}},
        [("cache=lru, qps, operations/s", [f"what is run | 6.11 | {NEW}", "fillseq | 299,990 | 299,990",
                                           "reads | 10,000 | 10,000", "overwrite | 18,099 | 18,099"]),
         ("cache=clock, qps, operations/s", [f"what is run | 6.11 | {NEW}", "fillseq | 299,990 | 299,990",
                                             "reads | unsupported | 14,999", "overwrite | unsupported | 19,999"])]),
    "ratios to a base": (
        {"rows": ["build"], "columns": ["cache"], "where": {"step": "readww", "threads": "1"},
         "base": {"cache": "lru"}},
        [("readww", ["build | lru | hyper", f"{OLD} | 1.00 | unsupported", f"{NEW} | 1.00 | 1.50 ±0.01"])]),
    "a base that the table does not show": (
        {"rows": ["cache"], "where": {"step": "readww", "threads": "2", "build": NEW}, "base": {"threads": "1"}},
        [("readww", ["cache | qps", "lru | 2.00 ±0.02", "hyper | failed"])]),
    "metrics go across where no axis does": (
        {"rows": ["build"], "where": {"step": "fillseq"}, "metrics": ["qps", "p99"]},
        [("fillseq", ["build | qps | p99_us", f"{OLD} | 299,990 | 16.7", f"{NEW} | 299,990 | 16.7"])]),
    "an axis that does not touch a step has one row": (
        {"rows": ["cache"], "where": {"step": "fillseq", "build": NEW}},
        [("fillseq", ["cache | qps", "- | 299,990"])]),
    "a bare number above a column has its axis, and a title that names the step is enough: overwrite": (
        {"rows": ["cache"], "columns": ["threads"], "where": {"step": "overwrite", "build": NEW, "cache": "lru"}},
        [("qps, operations/s", ["cache | threads=1 | threads=2", "lru | 18,099 | 36,199"])]),
    "one measurement is shown once, and a family is its builds": (
        {"rows": ["step"], "columns": ["cache"], "where": {"build": "rocksdb", "threads": "1"}},
        [(f"{OLD}, qps, operations/s", ["step | lru | hyper", "fillseq | 299,990 | same as lru",
                                        "readww | 10,000 | unsupported", "overwrite | 18,099 | unsupported"]),
         (f"{NEW}, qps, operations/s", ["step | lru | hyper", "fillseq | 299,990 | same as lru",
                                        "readww | 10,000 | 14,999", "overwrite | 18,099 | 19,999"])]),
    "a published layout": (
        {"layout": "percentiles", "where": {"step": "readww", "build": NEW}},
        [("readww", ["p50 | p99 | p99.9 | p99.99 | pmax | version",
                     "100.0 | 500 | 900 | - | 14649 | cache=lru threads=1",
                     "50.0 | 250 | 450 | - | 14649 | cache=lru threads=2",
                     "66.7 | 333 | 600 | - | 14649 | cache=hyper threads=1",
                     "failed | failed | failed | failed | failed | cache=hyper threads=2"])]),
    "a line that no axis names has the build": (
        {"layout": "percentiles", "rows": ["cache"], "where": {"step": "fillseq", "build": NEW}},
        [("fillseq", ["p50 | p99 | p99.9 | p99.99 | pmax | version", f"3.3 | 17 | 30 | 67 | 14649 | {NEW}"])]),
    "the last seconds of each step: of overwrite (20000 + 1000) / 2": (
        {"rows": ["step"], "where": ONE, "window": ["2s"]},
        [("", ["step | qps", "fillseq | 299,990", "readww | 10,000", "overwrite | 10,500"])]),
    "a step that does not last so long is not in the table": (
        {"rows": ["step"], "where": ONE, "window": ["5s", "9s"]},
        [("", ["step | qps", "overwrite | 19,999"])]),
}  # fmt: skip


def report_of(root, **more):
    experiment = scenario.experiment(root, **more)
    collect(experiment.store, experiment.plan)
    return read_report(experiment.store, experiment.plan.digest)


@pytest.fixture(scope="module")
def requested(tmp_path_factory):
    requests = tuple({"title": title, **request} for title, (request, _) in REQUESTS.items())
    return report_of(tmp_path_factory.mktemp("requested"), tables=requests)


@pytest.mark.parametrize("title", REQUESTS)
def test_a_requested_table(requested, title):
    tables = [table for table in requested.tables.prepared if table.title == title]
    rows = [[[cell.text for cell in row] for row in table.rows] for table in tables]
    heads = [[column.name for column in table.columns] for table in tables]
    lines = [[" | ".join(row) for row in (head, *cells)] for head, cells in zip(heads, rows, strict=True)]
    assert list(zip((table.block for table in tables), lines, strict=True)) == REQUESTS[title][1]


# Tables that no spec asks for are no longer than anyone would read.


def test_usual_tables_and_the_same_when_they_are_too_long(tmp_path, monkeypatch):
    """Name a table that would be long, and make it under that name when a reader asks for it."""
    experiment = scenario.experiment(tmp_path)
    usual = scenario.report(experiment)
    assert not usual.tables.are_chosen
    assert list(dict.fromkeys(table.title for table in usual.tables.prepared)) == ["response time"]
    hidden = {(name.partition(":")[0], why) for name, why in usual.tables.hidden}
    assert hidden == {("relative QPS", report_tables.REPEATED)}
    monkeypatch.setattr(report_tables, "MOST_ROWS", 0)
    long = scenario.report(experiment)
    names = [table.name for table in long.tables.long]
    assert sorted(names) == sorted(table.name for tables in long.tables.long for table in tables.tables)
    assert [name for name, _ in long.tables.hidden] == names
    assert {why for _, why in long.tables.hidden} == {report_tables.REPEATED, report_tables.TOO_LONG}
    all_tables = ({table.name: table for table in report_formats.tables(report)} for report in (long, usual))
    assert next(all_tables) == next(all_tables)


def test_the_text_names_a_long_table_and_repeats_no_note(tmp_path):
    report = scenario.report(scenario.experiment(tmp_path))
    rows = tuple((Cell(str(row)),) for row in range(MOST_ROWS + 1))
    long = (Table("iostat averages", (Column("rps"),), rows, "readww"),)
    text = summary_text.text(scenario.altered(report, prepared=long), Path("index.html"))
    assert 'stepgrid report specs/cache.yaml --table "iostat averages: readww"\n' in text
    assert "-------\n  rps\n" not in text
    imported = scenario.altered(report, prepared=long, spec="import sysbench published")
    assert f'stepgrid report {report.setup.plan} --table "iostat' in summary_text.text(imported, Path("index.html"))
    chosen = scenario.altered(report, prepared=long, are_chosen=True)
    assert "-------\n  rps\n" in summary_text.text(chosen, Path("index.html"))
    noted = (Table(name, (Column("x"),), ((Cell("1"),),), notes=("x: in seconds",)) for name in ("one", "two"))
    report = scenario.altered(report, prepared=tuple(noted))
    assert summary_text.text(report, Path("index.html")).count("x: in seconds") == 1
    assert html_page.page(report).count("x: in seconds") == 1


def test_a_table_of_zeros_only_has_no_figures():
    def of(*texts):
        rows = tuple((Cell("lru"), Cell(text)) for text in texts)
        return Table("stalls", (Column("cache", label=True), Column("stalled")), rows)

    assert not report_tables.has_figures(of("0", "0.00", "0.0%"))
    assert report_tables.has_figures(of("0", "0.01"))
    assert not report_tables.has_figures(replace(of(), rows=((Cell("lru"), Cell("-", "absent")),)))


REPORT = SimpleNamespace(
    setup=SimpleNamespace(loads=(1, 1)),
    data=SimpleNamespace(series=SimpleNamespace(steadiness={}), units={"get_qps": "operations/s"}),
)


def last_row(*points):
    """Return the last row by column."""
    section = StepPoints("read", (PlannedAxis("arm", ("a", "b")),), points)
    figures = table.__wrapped__(cast(Report, REPORT), section)
    return {column.head: cell.text for column, cell in zip(figures.columns, figures.rows[-1], strict=True)}


def test_the_cpu_of_client_and_server_stand_beside_that_of_both():
    row = last_row(
        made.point(made.run("a", 0, 9.0, cpu_us_per_op=27.5, client_cpu_us_per_op=7, server_cpu_us_per_op=20.5))
    )
    assert (row["CPU/op (µs)"], row["client CPU (µs)"], row["server CPU (µs)"]) == ("27.5", "7", "20.5")
    assert "client CPU (µs)" not in last_row(made.point(made.run("a", 0, 9.0, cpu_us_per_op=27.5)))


def test_a_metric_that_a_command_declares_stands_in_the_table_of_its_step():
    assert last_row(made.point(made.run("a", 0, 9.0, get_qps=4321.0)))["get_qps (operations/s)"] == "4.32k"
