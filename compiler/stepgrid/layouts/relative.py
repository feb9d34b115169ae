"""Relative QPS by step and build: `Relative to: …`, a column for each other arm, the step last."""

from __future__ import annotations

from collections.abc import Sequence

from stepgrid.layouts.shared import ratio_cells
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, BASE, STEP, Block, Layout, cell, legend

QPS = "qps"
ROOM = 70  # for the names of steps


def tables(block: Block) -> list[Table]:
    others = compared(block)
    rows = [(index, block.row(index)) for index in range(len(block.rows))]
    return [table(block, rows, others)] if others and rows else []


def table(block: Block, rows: Sequence[tuple[int, str]], others: Sequence[int], part: str = "") -> Table:
    """The legend stands above the columns, for names of builds are long; where the base is a row they keep them."""
    room = ROOM if block.base_column is None else 0
    heads, names = legend([block.column(index) for index in others], room)
    lines = ((*(_ratio(block, row, column) for column in others), Cell(name)) for row, name in rows)
    notes = (*block.notes, *ratio_cells.notes(block, [_metric(block)]))
    before = (f"Relative to: {block.base}", *names)
    return block.table(columns(heads, [" ".join(block.row_axes) or STEP]), lines, part, before=before, notes=notes)


def compared(block: Block) -> list[int]:
    return [index for index in range(len(block.columns)) if index != block.base_column]


def _ratio(block: Block, row: int, column: int) -> Cell:
    spot, metric = block.spot(row, column), _metric(block)
    found = spot.ratios.get(metric)
    if found is None and not spot.status and metric in spot.values:
        return Cell("no base", "missing")
    return cell(spot, None if found is None else ratio_cells.text(spot, metric, number_format.ratio(found)))


def _metric(block: Block) -> str:
    return block.metrics[0] if block.metrics else QPS


LAYOUT = Layout("relative QPS", tables, (STEP,), (BASE,), (ARMS,), (QPS,), compares=True, own_metrics=True)
