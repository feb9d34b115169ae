"""QPS of microbenchmarks by group, as it is: a column for each arm, the step last."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.layouts import groups
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, RANGE, STEP, Block, Layout, cell, legend

QPS, ROWS = "qps", "rows_per_s"
SCAN = "scan: scans of a whole table per second"


def tables(block: Block) -> list[Table]:
    return [_table(block, rows, name) for name, rows in groups.grouped(block).items()]


def _table(block: Block, rows: groups.Rows, name: str) -> Table:
    heads, names = legend(block.heads(QPS), groups.ROOM)
    lines = [line for index, short in rows for line in _lines(block, index, short)]
    notes = (*block.notes, *([SCAN] if len(lines) > len(rows) else []))
    return block.table(columns(heads, [STEP]), lines, name, before=names, notes=notes)


def _lines(block: Block, row: int, name: str) -> Iterator[tuple[Cell, ...]]:
    """Of a scan its rows as well: scans of tables of another size are something else."""
    yield (*_cells(block, row, QPS), Cell(name))
    if any(ROWS in spot.values for spot in block.line(row)):
        yield (*_cells(block, row, ROWS), Cell(f"{name}, rows/s"))


def _cells(block: Block, row: int, metric: str) -> Iterator[Cell]:
    for spot in block.line(row):
        value = spot.values.get(metric)
        yield cell(spot, number_format.fixed(value, 0), value)


LAYOUT = Layout("QPS by group", tables, (STEP, RANGE), (ARMS,), (), (QPS,))
