"""Counters, and sizes of tables and indexes."""

from stepgrid.plugins.layout import Block, LayoutCell
from stepgrid_databases.layouts import counters
from stepgrid_databases.layouts.counters import table_size_tables as tables
from tests.layouts.made import texts


def counter_tables(*counted):
    spots = {(row, 0): LayoutCell(values) for row, values in enumerate(counted)}
    rows = tuple((name,) for name in ("mysql", "postgres", "maria")[: len(counted)])
    return counters.counter_tables(Block("t", rows, (("l.i1",),), spots, counters=("*_read",)))


def _names(table):
    return [row[-1].text if table.columns[-1].label else row[0].text for row in table.rows]


def test_ratios_are_of_what_another_arm_counts_as_well():
    absolute, relative = counter_tables({"Innodb_read": 5.0, "data_read": 4.0}, {"blks_read": 3.0}, {"data_read": 8.0})
    assert _names(absolute) == ["data_read", "Innodb_read", "blks_read"]
    assert [[cell.text for cell in row] for row in relative.rows] == [["-", "2.000", "data_read"]]


INDEX = {"table_name": "t", "index_name": "k", "bytes": 1024.0, "dead_rows": None}


def block(*spots):
    names = tuple((f"arm{number}",) for number in range(1, len(spots) + 1))
    return Block("sizes", names, spots={(row, 0): spot for row, spot in enumerate(spots)})


def test_an_arm_that_failed_and_one_that_tells_nothing():
    (found,) = tables(block(LayoutCell(status="failed"), LayoutCell(), LayoutCell(objects=[INDEX])))
    assert texts(found) == ["arm1 -  failed", "arm3 t k 1 KiB"]
    assert tables(block(LayoutCell(), LayoutCell(status="failed"))) == []
