"""Relative QPS of microbenchmarks by group: point queries, range queries without and with aggregation, writes.

A step whose name says none of these is among others: nothing is claimed of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from stepgrid.layouts import relative
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, BASE, RANGE, STEP, Block, Layout, legend

POINTS, RANGES, AGGREGATING, WRITES, OTHERS = GROUPS = (
    "point queries", "range queries without aggregation", "range queries with aggregation", "writes", "others",
)  # fmt: skip
ROOM = 60  # for the names of arms
PRE = ".pre"  # before the writes
_WRITES = re.compile("delete|insert|update|write")
_RANGES = re.compile("range|scan")
_ASIDE = re.compile(r"^load|point.*\bwarm")  # what no published group has
_ENDING = re.compile(r"[._]range=?\d+$")
_NUMBERS = re.compile(r"(\d+)")

Rows = Sequence[tuple[int, str]]  # of a block, and what they are called


def tables(block: Block) -> list[Table]:
    others = relative.compared(block)
    groups = grouped(block).items() if others else ()
    plain = replace(block, row_axes=())
    return [relative.table(plain, rows, others, name) for name, rows in groups]


def together(block: Block, show: Callable[[int], Iterable[Cell]], unnamed: str, *notes: str) -> list[Table]:
    """All groups in one table, a column for each arm, the step last; a row of no cells is left out."""
    heads, names = legend(block.heads(unnamed), ROOM)
    every = ((index, short) for rows in grouped(block).values() for index, short in rows)
    rows = [(*cells, Cell(short)) for index, short in every if (cells := tuple(show(index)))]
    return [block.table(columns(heads, [STEP]), rows, before=names, notes=(*block.notes, *notes))] if rows else []


def grouped(block: Block) -> dict[str, Rows]:
    """By their names, and what is before the writes below what is after them; no group is empty."""
    called = short_names([name(block, index) for index in range(len(block.rows))])
    found: dict[str, list[tuple[int, str]]] = {each: [] for each in GROUPS}
    for index, (full, short) in sorted(enumerate(called), key=lambda each: _place(each[1][0])):
        if not _ASIDE.search(full):
            found[group(full)].append((index, short))
    return {each: rows for each, rows in found.items() if rows}


def name(block: Block, row: int) -> str:
    """random-points_range=10: as published tables have it."""
    labels = [
        label if axis == STEP else f"{axis}={label}"
        for axis, label in zip(block.row_axes, block.rows[row], strict=True)
        if label
    ]
    return "_".join(labels) if block.row_axes else block.row(row)


def group(name: str) -> str:
    """By what stands in the name, as published tables are sorted."""
    if _WRITES.search(name):
        return WRITES
    if "point" in name:
        return POINTS
    if name.startswith("read-only"):
        return AGGREGATING
    return RANGES if _RANGES.search(_ENDING.sub("", name)) else OTHERS


def short_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """Each, and without the range where it says enough without it."""
    without = Counter(_ENDING.sub("", name) for name in names)
    return [(name, short if without[short := _ENDING.sub("", name)] == 1 else name) for name in names]


def _place(name: str) -> tuple[list[tuple[int, str]], bool]:
    """10 before 100."""
    parts = _NUMBERS.split(name.replace(PRE, ""))
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts], PRE in name


LAYOUT = Layout(
    "relative QPS by group", tables, (STEP, RANGE), (BASE,), (ARMS,), (relative.QPS,), compares=True, own_metrics=True
)
