"""Compaction statistics at the end of a step, as RocksDB prints them: a table for each arm, a row for each level."""

from __future__ import annotations

from collections.abc import Sequence

from stepgrid.model.level_headings import HEADINGS
from stepgrid.model.table import Cell, Column, Table, status_cell
from stepgrid.plugins.layout import Block, Layout, LayoutCell, Level

LEVEL, SUM = "level", "Sum"

BRIEF = (
    "bytes", "read_bytes", "write_bytes", "write_amplification", "seconds", "cpu_seconds", "compactions",
    "keys_dropped",
)  # fmt: skip


def tables(block: Block) -> list[Table]:
    return [_table(block, name, spot.levels) for name, spot in block.subjects() if spot.levels]


def sums(block: Block) -> list[Table]:
    """What matters of the row `Sum` of each arm, in one table."""
    found = [(name, spot, _sum(spot)) for name, spot in block.subjects()]
    heads = [head for head in _known([row for _, _, row in found]) if head in BRIEF]
    rows = ((*_cells(row, heads, spot), Cell(name)) for name, spot, row in found)
    return [block.table((*_columns(heads), Column("version", label=True)), rows)] if heads else []


def _table(block: Block, name: str, levels: Sequence[Level]) -> Table:
    heads = _known(levels)
    rows = ((Cell(str(level[LEVEL])), *_cells(level, heads)) for level in levels)
    return block.table((Column("Level", label=True), *_columns(heads)), rows, name, notes=())


def _columns(heads: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(HEADINGS[head][0]) for head in heads)


def _known(levels: Sequence[Level]) -> list[str]:
    return [head for head in HEADINGS if any(level.get(head) is not None for level in levels)]


def _cells(level: Level, heads: Sequence[str], spot: LayoutCell | None = None) -> list[Cell]:
    if spot is not None and spot.status:
        return [status_cell(spot.status) for _ in heads]
    return [_cell(level, head) for head in heads]


def _cell(level: Level, head: str) -> Cell:
    value = level.get(head)
    if not isinstance(value, int | float):
        return Cell("-", "missing")
    text = HEADINGS[head][1](value)
    compacting = level.get("compacting_files")
    return Cell(f"{text}/{compacting:.0f}" if head == "files" and isinstance(compacting, int | float) else text)


def _sum(spot: LayoutCell) -> Level:
    return next((level for level in spot.levels if level[LEVEL] == SUM), {})


LAYOUT = Layout("compaction", tables, levels=True)
