"""Tables of microbenchmarks: loads, QPS by group of steps, relative and absolute; writes before reads; CPU."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from stepgrid.model import units
from stepgrid.model.metrics import CLIENT_CPU, QPS, SERVER_CPU
from stepgrid.model.records import replace
from stepgrid.model.table import ABSENT, Cell, Column, Table, columns
from stepgrid.plugins.layout import ARMS, BASE, RANGE, STEP, Block, Layout, LayoutCell, cell, legend
from stepgrid_databases.layouts.figures import label_heads, labels, other_columns, relative_table

# A step whose name says none of the first four is among others: nothing is claimed of it.
_POINTS, _RANGES, _AGGREGATING, _WRITES, _OTHERS = _GROUPS = (
    "point queries", "range queries without aggregation", "range queries with aggregation", "writes", "others",
)  # fmt: skip
_LEGEND_ROOM = 60  # characters for the names of arms
_PRE = ".pre"  # ends the name of a step before the writes
_RANGE_ENDING = re.compile(r"[._]range=?\d+$")
_ROWS_PER_S = "rows_per_s"
_SCAN = "scan: scans of a whole table per second"
_CPU = "µs of CPU per operation: of the server + of the client"

Rows = Sequence[tuple[int, str]]  # of a block: index and name


def relative_tables(block: Block) -> list[Table]:
    arms = other_columns(block)
    plain = replace(block, row_axes=())
    return [relative_table(plain, rows, arms, name) for name, rows in rows_by_group(block).items()] if arms else []


def absolute_tables(block: Block) -> list[Table]:
    """Make a column for each arm, the step last. A scan has its rows as well, which depend on the table's size."""
    tables = []
    for group, rows in rows_by_group(block).items():
        heads, names = legend(block.heads(QPS), _LEGEND_ROOM)
        lines, scans = [], False
        for row, name in rows:
            lines.append((*_whole_numbers(block, row, QPS), Cell(name)))
            if any(_ROWS_PER_S in spot.values for spot in block.line(row)):
                lines.append((*_whole_numbers(block, row, _ROWS_PER_S), Cell(f"{name}, rows/s")))
                scans = True
        notes = (*block.notes, *([_SCAN] if scans else []))
        tables.append(block.table(columns(heads, [STEP]), lines, group, before=names, notes=notes))
    return tables


def _whole_numbers(block: Block, row: int, metric: str) -> Iterator[Cell]:
    for spot in block.line(row):
        value = spot.values.get(metric)
        yield cell(spot, units.fixed(value, 0), value)


def before_after_tables(block: Block) -> list[Table]:
    """Divide QPS after steps that write by QPS before them, of the same build: a step and its name with `.pre`.

    The difference is what fragmentation costs, and what is not cached any more.
    """
    before = {
        tuple(label.removesuffix(_PRE) for label in names): index
        for index, names in enumerate(block.rows)
        if any(label.endswith(_PRE) for label in names)
    }

    def ratios(row: int) -> Iterator[Cell]:
        pre = before.get(block.rows[row])
        if pre is None:
            return
        for column in range(len(block.columns)):
            ratio = block.ratio((row, column), (pre, column), QPS)
            spots = block.spot(row, column), block.spot(pre, column)
            spot = next((spot for spot in spots if spot.status), spots[0])
            yield cell(spot, None if ratio is None else units.ratio(ratio), ratio)

    return _joined_table(block, ratios, "after/before")


def cpu_tables(block: Block) -> list[Table]:
    """Show the CPU of server and client apart: a step's client is no part of what is compared."""

    def both(spot: LayoutCell) -> Cell:
        server, client = spot.values.get(SERVER_CPU), spot.values.get(CLIENT_CPU)
        if server is None or client is None:
            return cell(spot, None)
        return cell(spot, f"{units.figure(server)} + {units.figure(client)}", server + client)

    return _joined_table(block, lambda row: map(both, block.line(row)), "CPU", _CPU)


def _joined_table(block: Block, show: Callable[[int], Iterable[Cell]], head: str, *notes: str) -> list[Table]:
    """Put all groups into one table, a column for each arm, the step last; leave out rows without cells."""
    heads, names = legend(block.heads(head), _LEGEND_ROOM)
    rows = [row for group in rows_by_group(block).values() for row in group]
    lines = [(*cells, Cell(name)) for index, name in rows if (cells := tuple(show(index)))]
    if not lines:
        return []
    return [block.table(columns(heads, [STEP]), lines, before=names, notes=(*block.notes, *notes))]


def rows_by_group(block: Block) -> dict[str, Rows]:
    """Sort rows by name, those before the writes below those after them; leave out loads and empty groups."""
    names = [step_name(block, index) for index in range(len(block.rows))]
    unranged = Counter(_RANGE_ENDING.sub("", name) for name in names)
    groups: dict[str, list[tuple[int, str]]] = {group: [] for group in _GROUPS}
    for index, name in sorted(enumerate(names), key=lambda row: natural_order(row[1])):
        if not re.search(r"^load|point.*\bwarm", name):  # no published group has these
            short = _RANGE_ENDING.sub("", name)
            groups[group_of(name)].append((index, short if unranged[short] == 1 else name))
    return {group: rows for group, rows in groups.items() if rows}


def step_name(block: Block, row: int) -> str:
    """Name a row as published tables do: random-points_range=10."""
    if not block.row_axes:
        return block.row(row)
    labels_by_axis = zip(block.row_axes, block.rows[row], strict=True)
    return "_".join(label if axis == STEP else f"{axis}={label}" for axis, label in labels_by_axis if label)


def group_of(name: str) -> str:
    """Choose the group by words of the name, as published tables are sorted."""
    if re.search("delete|insert|update|write", name):
        return _WRITES
    if "point" in name:
        return _POINTS
    if re.match("read-only|oltp_read_only", name):
        return _AGGREGATING
    return _RANGES if re.search("range|scan", _RANGE_ENDING.sub("", name)) else _OTHERS


def natural_order(name: str) -> tuple[list[tuple[int, str]], bool]:
    """Sort 10 before 100."""
    parts = re.split(r"(\d+)", name.replace(_PRE, ""))
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts], _PRE in name


_LOADED = "insert_seconds"  # only a load has it
_LOAD = {
    "qps": ("rows/s", ""),
    "seconds": ("load", "s"),
    _LOADED: ("inserting", "s"),
    "index_seconds": ("indexing", "s"),
}
_SIZES = {"data_bytes": "data", "index_bytes": "indexes", "database_bytes": "files"}
_LOAD_LEGEND = (
    "inserting, indexing: of the client that took longest; data, indexes: of the tables, as the server tells it before "
    "the first measured step (InnoDB has it from a table's statistics: a step of kind quiesce makes them); files: all "
    "of the database's, then and after the last step",
)


def load_tables(block: Block) -> list[Table]:
    """Show how fast tables are loaded and how large they are then: a row for each arm.

    The last step has the sizes at the end, the one before it those after the load, which does not know them yet.
    """
    lines = []
    for row in range(len(block.rows)):
        spots = [spot for spot in block.line(row) if spot.status != ABSENT]
        while spots and not (_LOADED in spots[0].values or spots[0].status):
            del spots[0]
        if spots:
            after = spots[-2] if len(spots) > 1 else spots[0]
            rates, sizes = [_load_cell(spots[0], name) for name in _LOAD], [_load_cell(after, name) for name in _SIZES]
            lines.append((*labels(block, row), *rates, *sizes, _load_cell(spots[-1], "database_bytes")))
    heads = (
        *label_heads(block),
        *(Column(name, unit=unit) for name, unit in _LOAD.values()),
        *(Column(name) for name in (*_SIZES.values(), "files, at the end")),
    )
    return [block.table(heads, lines, notes=(*block.notes, *_LOAD_LEGEND))] if lines else []


def _load_cell(spot: LayoutCell, metric: str) -> Cell:
    value = spot.values.get(metric)
    return cell(spot, None if value is None else units.figure(value, "B" if metric in _SIZES else ""), value)


GROUPS = Layout(
    "relative QPS by group", relative_tables, (STEP, RANGE), (BASE,), (ARMS,), (QPS,), compares=True, own_metrics=True
)
ABSOLUTE = Layout("QPS by group", absolute_tables, (STEP, RANGE), (ARMS,), (), (QPS,))
BEFORE_AFTER = Layout(
    "QPS after what writes, relative to before it", before_after_tables, (STEP, RANGE), (ARMS,), (), (QPS,)
)
CPU = Layout("CPU per operation", cpu_tables, (STEP, RANGE), (ARMS,), (), (SERVER_CPU, CLIENT_CPU))
LOAD = Layout("load and sizes", load_tables, (ARMS,), (STEP,), (), (_LOADED,), sizes=True)
