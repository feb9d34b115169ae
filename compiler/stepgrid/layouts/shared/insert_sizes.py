"""How large the database was after each step of the insert benchmark: its tables and indexes, and its folder."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.model import number_format
from stepgrid.model.table import NOTHING, Cell, Table, columns
from stepgrid.plugins.layout import Block, LayoutCell, cell

# title of the part -> the metrics that it is the sum of: the first of which a spot has all
_SIZES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "size of tables and indexes": (("tables_bytes",), ("data_bytes", "index_bytes")),
    "size of the data folder": (("database_bytes",),),
}


def tables(block: Block) -> list[Table]:
    return [_table(block, what) for what in _SIZES if _any(block, what)]


def _any(block: Block, what: str) -> bool:
    return any(_bytes(spot, what) is not None for spot in block.spots.values())


def _table(block: Block, what: str) -> Table:
    """Rows of which nothing is known are left out."""
    lines = ((block.row(row), block.line(row)) for row in range(len(block.rows)))
    known = ((name, [_size(spot, what) for spot in spots]) for name, spots in lines)
    rows = ((Cell(name), *cells) for name, cells in known if any(cell.text != NOTHING for cell in cells))
    return block.table(columns(block.heads(), ["dbms"], last=False), rows, what, notes=["at the end of the step"])


def _size(spot: LayoutCell, what: str) -> Cell:
    found = _bytes(spot, what)
    return cell(spot, None if found is None else number_format.size(found), found)


def _bytes(spot: LayoutCell, what: str) -> float | None:
    names = next((names for names in _SIZES[what] if all(name in spot.values for name in names)), None)
    return None if names is None else sum(spot.values[name] for name in names)
