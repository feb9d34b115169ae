"""Counters of the arms beside each other, and to the first: of what only one of them counts there is no ratio."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.layouts import counters
from stepgrid.model.table import Table
from stepgrid.plugins.layout import Block, LayoutCell


def _tables(*counted: Mapping[str, float]) -> list[Table]:
    spots = {(row, 0): LayoutCell(values) for row, values in enumerate(counted)}
    rows = tuple((name,) for name in ("mysql", "postgres", "maria")[: len(counted)])
    return counters.counter_tables(Block("t", rows, (("l.i1",),), spots, counters=("*_read",)))


def _names(table: Table) -> list[str]:
    return [row[-1].text if table.columns[-1].label else row[0].text for row in table.rows]


def test_ratios_are_of_what_another_arm_counts_as_well() -> None:
    absolute, relative = _tables({"Innodb_read": 5.0, "data_read": 4.0}, {"blks_read": 3.0}, {"data_read": 8.0})
    assert _names(absolute) == ["data_read", "Innodb_read", "blks_read"]
    assert [[cell.text for cell in row] for row in relative.rows] == [["-", "2.000", "data_read"]]


def test_servers_without_a_counter_in_common_have_no_ratios() -> None:
    (absolute,) = _tables({"Innodb_read": 5.0}, {"blks_read": 3.0})
    assert _names(absolute) == ["Innodb_read", "blks_read"]
