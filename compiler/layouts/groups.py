"""Relative QPS of microbenchmarks by group: point queries, range queries without and with aggregation, writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from compiler.layouts import relative
from compiler.layouts.block import Block
from compiler.layouts.layout import ARMS, BASE, STEP, Layout
from compiler.layouts.table import Table

POINT, RANGE, AGGREGATING, WRITE = (
    "point queries", "range queries without aggregation", "range queries with aggregation", "writes",
)  # fmt: skip
_WRITES = re.compile("delete|insert|update|write")
_ASIDE = re.compile(r"^load|\bwarm")  # what no published group has
_ENDING = re.compile(r"[._]range=?\d+$")


def tables(block: Block) -> list[Table]:
    others = relative.compared(block)
    found: dict[str, list[int]] = {name: [] for name in (POINT, RANGE, AGGREGATING, WRITE)}
    names = [block.row(index) for index in range(len(block.rows))]
    for index, name in enumerate(names):
        if not _ASIDE.search(name):
            found[group(name)].append(index)
    called = short_names(names)
    return [_table(block, found[each], called, others, each) for each in found if found[each] and others]


def group(name: str) -> str:
    """By what stands in the name, as published tables are sorted."""
    if _WRITES.search(name):
        return WRITE
    if "point" in name:
        return POINT
    return AGGREGATING if name.startswith("read-only") else RANGE


def short_names(names: Sequence[str]) -> Mapping[str, str]:
    """Without the range, where the name says enough without it."""
    without = Counter(_ENDING.sub("", name) for name in names)
    return {name: short if without[short := _ENDING.sub("", name)] == 1 else name for name in names}


def _table(block: Block, rows: Sequence[int], called: Mapping[str, str], others: Sequence[int], name: str) -> Table:
    lines = [relative.line(block, index, called[block.row(index)]) for index in rows]
    point = ", ".join(part for part in (block.point, name) if part)
    return relative.table(replace(block, row_axes=()), lines, others, point)


LAYOUT = Layout(
    "relative QPS by group", tables, (STEP,), (BASE,), (ARMS,), (relative.QPS,), compares=True, own_metrics=True
)
