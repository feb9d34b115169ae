"""Relative QPS by step and build: `Relative to: …`, a column for each other arm, the step last."""

from __future__ import annotations

from collections.abc import Sequence

from stepgrid.layouts.shared import legend, ratio_cells
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, BASE, STEP, Block, Layout, cell

QPS = "qps"
ROOM = 70  # for the names of steps


def tables(block: Block) -> list[Table]:
    others = compared(block)
    rows = [line(block, index, block.row(index)) for index in range(len(block.rows))]
    return [table(block, rows, others, block.point)] if others and rows else []


def table(block: Block, rows: Sequence[tuple[Cell, ...]], others: Sequence[int], point: str) -> Table:
    """The legend stands above the columns, for names of builds are long; where the base is a row they keep them."""
    room = ROOM if block.base_column is None else 0
    heads, names = legend.legend([block.column(index) for index in others], room)
    before = (f"Relative to: {block.base}", *names)
    name = " ".join(block.row_axes) or STEP
    notes = (*block.notes, *ratio_cells.notes(block, [_metric(block)]))
    return Table(block.title, columns(heads, [name]), tuple(rows), point, before, notes)


def compared(block: Block) -> list[int]:
    return [index for index in range(len(block.columns)) if index != block.base_column]


def line(block: Block, row: int, name: str) -> tuple[Cell, ...]:
    return (*(_ratio(block, row, column) for column in compared(block)), Cell(name))


def _ratio(block: Block, row: int, column: int) -> Cell:
    spot, metric = block.spot(row, column), _metric(block)
    found = spot.ratios.get(metric)
    if found is None and not spot.status and metric in spot.values:
        return Cell("no base", "missing")
    return cell(spot, None if found is None else ratio_cells.text(spot, metric, f"{found:.2f}"))


def _metric(block: Block) -> str:
    return block.metrics[0] if block.metrics else QPS


LAYOUT = Layout("relative QPS", tables, (STEP,), (BASE,), (ARMS,), (QPS,), compares=True, own_metrics=True)
