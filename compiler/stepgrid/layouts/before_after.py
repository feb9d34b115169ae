"""What the steps that write cost those that read: QPS after them over QPS before them, of the same build.

A step and the one of its name with `.pre`; the difference is what fragmentation costs, and what is not cached any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stepgrid.layouts import groups
from stepgrid.layouts.shared import legend
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, RANGE, STEP, At, Block, Layout, cell

QPS = "qps"
ROOM = 60  # for the names of arms
HEAD = "after/before"


def tables(block: Block) -> list[Table]:
    heads, names = legend.legend(block.heads(HEAD), ROOM)
    rows = tuple(_lines(block))
    return [block.table(columns(heads, [STEP]), rows, before=names)] if rows else []


def _lines(block: Block) -> Iterator[Iterable[Cell]]:
    before = _before(block)
    for rows in groups.grouped(block).values():
        for index, short in rows:
            if (there := before.get(block.rows[index])) is not None:
                across = range(len(block.columns))
                yield (*(_ratio(block, (index, at), (there, at)) for at in across), Cell(short))


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
