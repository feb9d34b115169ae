"""What the steps that write cost those that read: QPS after them over QPS before them, of the same build.

A step and the one of its name with `.pre`; the difference is what fragmentation costs, and what is not cached any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from stepgrid.layouts import groups
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table
from stepgrid.plugins.layout import ARMS, RANGE, STEP, At, Block, Layout, cell

QPS = "qps"
HEAD = "after/before"


def tables(block: Block) -> list[Table]:
    return groups.together(block, partial(_cells, block, _before(block)), HEAD)


def _cells(block: Block, before: Mapping[tuple[str, ...], int], row: int) -> Iterator[Cell]:
    if (there := before.get(block.rows[row])) is not None:
        yield from (_ratio(block, (row, at), (there, at)) for at in range(len(block.columns)))


def _before(block: Block) -> Mapping[tuple[str, ...], int]:
    """By the labels of the row after it: those of its own, without the ending."""
    found = {}
    for index, labels in enumerate(block.rows):
        if any(label.endswith(groups.PRE) for label in labels):
            found[tuple(label.removesuffix(groups.PRE) for label in labels)] = index
    return found


def _ratio(block: Block, after: At, before: At) -> Cell:
    found = block.ratio(after, before, QPS)
    spot = next((each for at in (after, before) if (each := block.spot(*at)).status), block.spot(*after))
    return cell(spot, None if found is None else number_format.ratio(found), found)


LAYOUT = Layout("QPS after what writes, relative to before it", tables, (STEP, RANGE), (ARMS,), (), (QPS,))
