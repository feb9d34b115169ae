"""What the steps that write cost those that read: QPS after them over QPS before them, of the same build.

A step and the one of its name with `.pre`; the difference is what fragmentation costs, and what is not cached any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepgrid.layouts import groups
from stepgrid.layouts.shared import legend
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, RANGE, STEP, Block, Layout, Spot, cell

QPS = "qps"
ROOM = 60  # for the names of arms
HEAD = "after/before"


def tables(block: Block) -> list[Table]:
    heads, names = legend.legend([block.column(index) or HEAD for index in range(len(block.columns))], ROOM)
    rows = tuple(_lines(block))
    return [Table(block.title, columns(heads, [STEP]), rows, block.point, names, block.notes)] if rows else []


def _lines(block: Block) -> Iterator[tuple[Cell, ...]]:
    before = _before(block)
    for rows in groups.grouped(block).values():
        for index, short in rows:
            if (there := before.get(block.rows[index])) is not None:
                yield (*_cells(block, index, there), Cell(short))


def _before(block: Block) -> Mapping[tuple[str, ...], int]:
    """By the labels of the row after it: those of its own, without the ending."""
    found = {}
    for index, labels in enumerate(block.rows):
        if any(label.endswith(groups.PRE) for label in labels):
            found[tuple(label.removesuffix(groups.PRE) for label in labels)] = index
    return found


def _cells(block: Block, row: int, before: int) -> Sequence[Cell]:
    return [_ratio(block.spot(row, column), block.spot(before, column)) for column in range(len(block.columns))]


def _ratio(after: Spot, before: Spot) -> Cell:
    if after.status or before.status:
        return cell(after if after.status else before, None)
    rates = after.values.get(QPS), before.values.get(QPS)
    if rates[0] is None or rates[1] is None:
        return cell(after, None)
    return Cell(number_format.ratio_to(rates[0], rates[1]), value=number_format.quotient(rates[0], rates[1]))


LAYOUT = Layout("QPS after what writes, relative to before it", tables, (STEP, RANGE), (ARMS,), (), (QPS,))
