"""What nobody has asked for is no longer than anyone would read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stepgrid.model.table import MOST_ROWS, Cell, Column, Table
from stepgrid.summarize import report_tables
from stepgrid.summarize.page import html, report_formats, summary_text
from tests.summarize import scenario


def test_a_long_table_is_named_only(tmp_path: Path) -> None:
    found = scenario.report(scenario.experiment(tmp_path))
    long = Table(
        "iostat averages", (Column("rps"),), tuple((Cell(str(row)),) for row in range(MOST_ROWS + 1)), "readww"
    )
    said = summary_text.text(scenario.altered(found, made=(long,)), Path("index.html"))
    assert 'stepgrid report specs/cache.yaml --table "iostat averages: readww"\n' in said
    assert "-------\n  rps\n" not in said
    of_import = scenario.altered(found, made=(long,), spec="import sysbench published")
    assert f'stepgrid report {found.setup.plan} --table "iostat' in summary_text.text(of_import, Path("index.html"))
    assert "-------\n  rps\n" in summary_text.text(
        scenario.altered(found, made=(long,), are_chosen=True), Path("index.html")
    )


def test_one_that_would_be_long_is_made_when_someone_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is then what it would have been, under the name that it was announced by."""
    found = scenario.experiment(tmp_path)
    whole = scenario.report(found)
    assert {each.why for each in whole.tables.long} == {report_tables.REPEATED}
    monkeypatch.setattr(report_tables, "MOST_ROWS", 0)
    later = scenario.report(found)
    names = [each.name for each in later.tables.long]
    assert names
    assert sorted(names) == sorted(each.name for long in later.tables.long for each in long.make())
    assert [name for name, _ in later.tables.hidden] == names
    assert {why for _, why in later.tables.hidden} == {report_tables.REPEATED, report_tables.TOO_LONG}
    tables = {each.name: each for each in report_formats.tables(later)}
    assert tables == {each.name: each for each in report_formats.tables(whole)}


def test_a_table_of_zeros_only_is_not_shown(tmp_path: Path) -> None:
    def of(*texts: str) -> Table:
        rows = tuple((Cell("lru"), Cell(text)) for text in texts)
        return Table("stalls", (Column("cache", label=True), Column("stalled")), rows)

    assert not report_tables.has_figures(of("0", "0.00", "0.0%"))
    assert report_tables.has_figures(of("0", "0.01"))
    assert not report_tables.has_figures(replace(of(), rows=((Cell("lru"), Cell("-", "absent")),)))


def test_a_note_below_several_tables_is_said_once(tmp_path: Path) -> None:
    found = scenario.report(scenario.experiment(tmp_path))
    made = [Table(name, (Column("x"),), ((Cell("1"),),), notes=("x: in seconds",)) for name in ("one", "two")]
    report = scenario.altered(found, made=tuple(made))
    assert summary_text.text(report, Path("index.html")).count("x: in seconds") == 1
    assert html.page(report).count("x: in seconds") == 1
