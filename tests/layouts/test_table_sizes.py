"""Sizes of tables and indexes: arm by arm, the table before its indexes; only what some of them has."""

from __future__ import annotations

from stepgrid.layouts.counters import table_size_tables as tables
from stepgrid.plugins.layout import Block, LayoutCell
from tests.layouts.made import texts

INDEX = {"table_name": "t", "index_name": "k", "bytes": 1024.0, "dead_rows": None}
TABLE = {"table_name": "t", "index_name": None, "bytes": 4096.0, "dead_rows": 49.0}


def block(*spots: LayoutCell) -> Block:
    names = tuple((f"arm{number}",) for number in range(1, len(spots) + 1))
    return Block("sizes", names, spots={(row, 0): spot for row, spot in enumerate(spots)})


def test_the_table_before_its_indexes_and_only_figures_that_there_are() -> None:
    (found,) = tables(block(LayoutCell(objects=[INDEX, TABLE]), LayoutCell(objects=[{**INDEX, "table_name": "a"}])))
    assert [column.name for column in found.columns] == ["config", "table", "index", "size", "dead rows"]
    assert texts(found) == ["arm1 t  4 KiB 49", "arm1 t k 1 KiB -", "arm2 a k 1 KiB -"]


def test_an_arm_that_failed_and_one_that_tells_nothing() -> None:
    (found,) = tables(block(LayoutCell(status="failed"), LayoutCell(), LayoutCell(objects=[INDEX])))
    assert texts(found) == ["arm1 -  failed", "arm3 t k 1 KiB"]
    assert tables(block(LayoutCell(), LayoutCell(status="failed"))) == []
