"""Seconds of a probe: a row for each configuration, a column for each step that it ran before or after."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, STEP, Block, Layout, cell


def tables(block: Block) -> list[Table]:
    return [_table(replace(block, metrics=(probe,)), len(block.metrics) > 1) for probe in block.metrics]


def _table(block: Block, several: bool) -> Table:
    probe = block.metrics[0]
    rows = tuple((Cell(block.row(row)), *_cells(block, row, probe)) for row in range(len(block.rows)))
    heads = [block.column(index) or block.call(probe) for index in range(len(block.columns))]
    point = ", ".join(part for part in (block.point, block.call(probe) if several else "") if part)
    notes = (*block.notes, f"{block.call(probe)}, in seconds")
    return Table(block.title, columns(heads, ["config"], last=False), rows, point, notes=notes)


def _cells(block: Block, row: int, probe: str) -> list[Cell]:
    spots = [block.spot(row, column) for column in range(len(block.columns))]
    return [cell(spot, number_format.fixed(spot.values.get(probe), 3)) for spot in spots]


LAYOUT = Layout("probes", tables, (ARMS,), (STEP,), (), own_metrics=True)
