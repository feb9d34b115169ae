"""Compaction statistics at the end of a step, as RocksDB prints them: a table for each arm, a row for each level."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.drivers.db_bench.parse import compaction
from compiler.layouts.block import Block, Spot
from compiler.layouts.layout import Layout
from compiler.layouts.table import Cell, Column, Table

FACT = "compaction"  # the text that a driver kept
LEVEL, SUM = "Level", "Sum"


def tables(block: Block) -> list[Table]:
    found = [(name, _rows(spot)) for name, spot in block.subjects()]
    return [_table(block, name, rows) for name, rows in found if rows]


def sums(block: Block) -> list[Table]:
    """The row `Sum` of each arm, in one table. Releases add columns: one that lacks it has none."""
    found = [(name, spot, _sum(spot)) for name, spot in block.subjects()]
    heads = list(dict.fromkeys(head for _, _, row in found for head in row if head != LEVEL))
    if not heads:
        return []
    rows = tuple((*(_cell(spot, row, head) for head in heads), Cell(name)) for name, spot, row in found)
    return [Table(block.title, (*map(Column, heads), Column("version", label=True)), rows, block.point)]


def _cell(spot: Spot, row: compaction.Row, head: str) -> Cell:
    if spot.status:
        return Cell(spot.status, spot.status)
    return Cell(row[head]) if head in row else Cell("-", "missing")


def _sum(spot: Spot) -> compaction.Row:
    return next((row for row in _rows(spot) if row[LEVEL] == SUM), {})


def _rows(spot: Spot) -> Sequence[compaction.Row]:
    found = compaction.tables(spot.facts.get(FACT, ""))
    return list(found[-1].values()) if found else []


def _table(block: Block, name: str, rows: Sequence[compaction.Row]) -> Table:
    heads = tuple(rows[0])
    cells = tuple(tuple(Cell(row[head]) for head in heads) for row in rows)
    point = ", ".join(part for part in (block.point, name) if part)
    return Table(block.title, tuple(Column(head, label=head == LEVEL) for head in heads), cells, point)


LAYOUT = Layout("compaction", tables, facts=(FACT,))
