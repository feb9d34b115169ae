"""What nobody has asked for is no longer than anyone would read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import scenario

from compiler.layouts.table import ROWS, Cell, Column, Table
from compiler.summarize import summary


def test_a_long_table_is_named_only(tmp_path: Path) -> None:
    found = scenario.report(scenario.experiment(tmp_path))
    long = Table("iostat averages", (Column("rps"),), tuple((Cell(str(row)),) for row in range(ROWS + 1)), "readww")
    said = summary.text(replace(found, tables=(long,)), Path("index.html"))
    assert 'stepgrid report specs/cache.yaml --table "iostat averages: readww"\n' in said
    assert "-------\n  rps\n" not in said
    assert "-------\n  rps\n" in summary.text(replace(found, tables=(long,), asked=True), Path("index.html"))
