"""How fast tables are loaded, and how large they are then: a row for each arm."""

from __future__ import annotations

from collections.abc import Sequence

from stepgrid.layouts.figures import label_heads, labels
from stepgrid.model import number_format
from stepgrid.model.table import ABSENT, Cell, Column, Table
from stepgrid.plugins.layout import ARMS, STEP, Block, Layout, LayoutCell, cell

INSERTS = "insert_seconds"  # only a load has it
SIZES = {"data_bytes": "data", "index_bytes": "indexes", "database_bytes": "files"}
_LOAD = {
    "qps": ("rows/s", ""),
    "seconds": ("load", "s"),
    INSERTS: ("inserting", "s"),
    "index_seconds": ("indexing", "s"),
}
LEGEND = (
    "inserting, indexing: of the client that took longest; data, indexes: of the tables, as the server tells it before "
    "the first measured step (InnoDB has it from a table's statistics: a step of kind quiesce makes them); files: all "
    "of the database's, then and after the last step",
)


def tables(block: Block) -> list[Table]:
    rows = [(index, found) for index in range(len(block.rows)) if (found := _spots(block, index))]
    lines = [(*labels(block, index), *_cells(found)) for index, found in rows]
    loads = [Column(name, unit=unit) for name, unit in _LOAD.values()]
    sizes = [Column(name) for name in (*SIZES.values(), "files, at the end")]
    notes = (*block.notes, *LEGEND)
    return [block.table((*label_heads(block), *loads, *sizes), lines, notes=notes)] if lines else []


def _spots(block: Block, row: int) -> list[LayoutCell]:
    """From the load on, in the order of the steps."""
    spots = [spot for spot in block.line(row) if spot.status != ABSENT]
    first = next((index for index, spot in enumerate(spots) if INSERTS in spot.values or spot.status), None)
    return [] if first is None else spots[first:]


def _cells(spots: Sequence[LayoutCell]) -> list[Cell]:
    """The last step has the sizes at the end, the one before it those after the load, which does not know them yet."""
    load, before, end = spots[0], spots[-2] if len(spots) > 1 else spots[0], spots[-1]
    rates = [_cell(load, name) for name in _LOAD]
    sizes = [_cell(before, name) for name in SIZES]
    return [*rates, *sizes, _cell(end, "database_bytes")]


def _cell(spot: LayoutCell, metric: str) -> Cell:
    found = spot.values.get(metric)
    return cell(spot, None if found is None else number_format.figure(found, "B" if metric in SIZES else ""), found)


LAYOUT = Layout("load and sizes", tables, (ARMS,), (STEP,), (), (INSERTS,), sizes=True)
