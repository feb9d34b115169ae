"""What a step has left: rows, size and garbage of each table and index, a row for each, arm by arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from stepgrid.model import number_format
from stepgrid.model.table import NOTHING, Cell, Column, Table, status_cell
from stepgrid.plugins.layout import Block, Layout, LayoutCell, Object

TABLE, INDEX = "table_name", "index_name"
# column of the table `sizes` -> its heading, and how it is shown
FIGURES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "rows": ("rows", number_format.figure),
    "bytes": ("size", number_format.size),
    "dead_rows": ("dead rows", number_format.figure),
    "tombstones": ("tombstones", number_format.figure),
    "bloat_bytes": ("bloat", number_format.size),
}


def tables(block: Block) -> list[Table]:
    subjects = [(name, spot) for name, spot in block.subjects() if spot.objects or spot.status]
    every = [each for _, spot in subjects for each in spot.objects]
    known = [name for name in FIGURES if any(each.get(name) is not None for each in every)]
    if not known:
        return []
    heads = (Column("config", label=True), Column("table", label=True), Column("index", label=True))
    rows = (row for name, spot in subjects for row in _rows(name, spot, known))
    return [block.table((*heads, *(Column(FIGURES[name][0]) for name in known)), rows)]


def _rows(subject: str, spot: LayoutCell, known: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    if spot.status:
        yield (Cell(subject), Cell(NOTHING), Cell(""), *(status_cell(spot.status) for _ in known))
    for each in sorted(spot.objects, key=lambda each: (str(each[TABLE]), str(each[INDEX] or ""))):
        yield (Cell(subject), Cell(str(each[TABLE])), Cell(str(each[INDEX] or "")), *_cells(each, known))


def _cells(found: Object, known: Sequence[str]) -> Iterator[Cell]:
    for name in known:
        value = found.get(name)
        yield Cell(FIGURES[name][1](value)) if isinstance(value, int | float) else Cell(NOTHING, "missing")


LAYOUT = Layout("sizes of tables and indexes", tables, objects=True)
