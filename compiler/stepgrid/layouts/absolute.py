"""QPS of microbenchmarks by group, as it is: a column for each arm, the step last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepgrid.layouts import groups
from stepgrid.layouts.shared import legend
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, RANGE, STEP, Block, Layout, cell

QPS, ROWS = "qps", "rows_per_s"
ROOM = 60  # for the names of arms
SCAN = "scan: scans of a whole table per second"


def tables(block: Block) -> list[Table]:
    return [_table(block, rows, name) for name, rows in groups.grouped(block).items()]


def _table(block: Block, rows: groups.Rows, name: str) -> Table:
    heads, names = legend.legend([block.column(index) or QPS for index in range(len(block.columns))], ROOM)
    lines = tuple(line for index, short in rows for line in _lines(block, index, short))
    notes = (SCAN,) if len(lines) > len(rows) else ()
    point = ", ".join(part for part in (block.point, name) if part)
    return Table(block.title, columns(heads, [STEP]), lines, point, names, (*block.notes, *notes))


def _lines(block: Block, row: int, name: str) -> Iterator[tuple[Cell, ...]]:
    """Of a scan its rows as well: scans of tables of another size are something else."""
    yield (*_cells(block, row, QPS), Cell(name))
    if any(ROWS in block.spot(row, column).values for column in range(len(block.columns))):
        yield (*_cells(block, row, ROWS), Cell(f"{name}, rows/s"))


def _cells(block: Block, row: int, metric: str) -> Sequence[Cell]:
    spots = [block.spot(row, column) for column in range(len(block.columns))]
    return [cell(spot, number_format.fixed(spot.values.get(metric), 0), spot.values.get(metric)) for spot in spots]


LAYOUT = Layout("QPS by group", tables, (STEP, RANGE), (ARMS,), (), (QPS,))
