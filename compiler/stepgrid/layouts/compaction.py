"""Compaction statistics at the end of a step, as RocksDB prints them: a table for each arm, a row for each level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from stepgrid.model.table import Cell, Column, Table
from stepgrid.plugins.layout import Block, Layout, Level, Spot, lacking

LEVEL, SUM = "level", "Sum"
Show = Callable[[float], str]


def _gb(value: float) -> str:
    return f"{value / 2**30:z.1f}"


def _count(value: float) -> str:
    """1662K: as RocksDB rounds it."""
    for factor, sign in ((10**9, "G"), (10**6, "M"), (10**3, "K")):
        if value >= 10 * factor:
            return f"{value / factor:.0f}{sign}"
    return f"{value:.0f}"


def _size(value: float) -> str:
    for power, sign in ((40, "TB"), (30, "GB"), (20, "MB"), (10, "KB")):
        if value >= 2**power:
            return f"{value / 2**power:.2f} {sign}"
    return f"{value:.2f} KB" if value == 0 else f"{value / 1024:.2f} KB"


def _digits(number: int) -> Show:
    return lambda value: f"{value:.{number}f}"


# what the table has -> RocksDB's head for it, and how it prints it
HEADS: Mapping[str, tuple[str, Show]] = {
    "files": ("Files", _digits(0)),
    "bytes": ("Size", _size),
    "score": ("Score", _digits(1)),
    "read_bytes": ("Read(GB)", _gb),
    "read_own_bytes": ("Rn(GB)", _gb),
    "read_next_bytes": ("Rnp1(GB)", _gb),
    "write_bytes": ("Write(GB)", _gb),
    "write_uncompressed_bytes": ("WPreComp(GB)", _gb),
    "write_new_bytes": ("Wnew(GB)", _gb),
    "moved_bytes": ("Moved(GB)", _gb),
    "write_amplification": ("W-Amp", _digits(1)),
    "read_mb_per_s": ("Rd(MB/s)", _digits(1)),
    "write_mb_per_s": ("Wr(MB/s)", _digits(1)),
    "seconds": ("Comp(sec)", _digits(2)),
    "cpu_seconds": ("CompMergeCPU(sec)", _digits(2)),
    "compactions": ("Comp(cnt)", _digits(0)),
    "average_seconds": ("Avg(sec)", _digits(3)),
    "keys_in": ("KeyIn", _count),
    "keys_dropped": ("KeyDrop", _count),
    "blob_read_bytes": ("Rblob(GB)", _gb),
    "blob_write_bytes": ("Wblob(GB)", _gb),
}

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
    if not heads:
        return []
    rows = tuple((*_cells(row, heads, spot), Cell(name)) for name, spot, row in found)
    return [Table(block.title, (*_columns(heads), Column("version", label=True)), rows, block.point, notes=block.notes)]


def _table(block: Block, name: str, levels: Sequence[Level]) -> Table:
    heads = _known(levels)
    rows = tuple((Cell(str(level[LEVEL])), *_cells(level, heads)) for level in levels)
    point = ", ".join(part for part in (block.point, name) if part)
    return Table(block.title, (Column("Level", label=True), *_columns(heads)), rows, point)


def _columns(heads: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(HEADS[head][0]) for head in heads)


def _known(levels: Sequence[Level]) -> list[str]:
    return [head for head in HEADS if any(level.get(head) is not None for level in levels)]


def _cells(level: Level, heads: Sequence[str], spot: Spot | None = None) -> list[Cell]:
    if spot is not None and spot.status:
        return [lacking(spot.status) for _ in heads]
    return [_cell(level, head) for head in heads]


def _cell(level: Level, head: str) -> Cell:
    value = level.get(head)
    if not isinstance(value, int | float):
        return Cell("-", "missing")
    text = HEADS[head][1](value)
    compacting = level.get("compacting_files")
    return Cell(f"{text}/{compacting:.0f}" if head == "files" and isinstance(compacting, int | float) else text)


def _sum(spot: Spot) -> Level:
    return next((level for level in spot.levels if level[LEVEL] == SUM), {})


LAYOUT = Layout("compaction", tables, levels=True)
