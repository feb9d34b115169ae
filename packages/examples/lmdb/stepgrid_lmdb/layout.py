"""A table of a report: the tree of each arm."""

from __future__ import annotations

from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import Block, Layout, fixed


def tables(block: Block) -> list[Table]:
    rows = []
    for name, spot in block.subjects():
        size = spot.values.get("lmdb_leaf_bytes")
        leaves = fixed(spot, None if size is None else size / 2**20, 1)
        rows.append((fixed(spot, spot.values.get("lmdb_depth"), 0), leaves, Cell(name)))
    return [block.table(columns(("depth", "leaf MiB"), ["arm"]), rows)] if rows else []


LAYOUT = Layout("LMDB trees", tables, metrics=("lmdb_depth", "lmdb_leaf_bytes"))
