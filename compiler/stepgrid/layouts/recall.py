"""Recall against QPS: what each arm reaches at its best for a recall that is asked for, and all points by recall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stepgrid.model.table import Cell, Table, columns, status_cell
from stepgrid.plugins.layout import Block, Layout

LIMITS = (1.000, 0.99, 0.98, 0.97, 0.96, 0.95)
RECALL, QPS = "recall", "qps"


class RecallPoint(NamedTuple):
    recall: float
    qps: float
    name: str

    @property
    def cells(self) -> tuple[Cell, ...]:
        return Cell(f"{self.recall:.3f}"), Cell(f"{self.qps:.1f}"), Cell(self.name)


def tables(block: Block) -> list[Table]:
    found = points(block)
    table = block.table(columns([RECALL, QPS], ["parameters"]), (*(each.cells for each in found), *_lacking(block)))
    return [table, *best(block, found)] if table.rows else []


def points(block: Block) -> list[RecallPoint]:
    """The highest recall first, and of equal ones the fastest."""
    spots = [(name, spot.values) for name, spot in block.subjects() if not spot.status]
    known = [
        RecallPoint(values[RECALL], values[QPS], name) for name, values in spots if RECALL in values and QPS in values
    ]
    return sorted(known, key=lambda each: (-round(each.recall, 3), -each.qps, each.name))


def best(block: Block, found: Sequence[RecallPoint]) -> list[Table]:
    """One table of the fastest point for each limit; recall counts as it is shown, with three digits."""
    rows = []
    for limit in LIMITS:
        enough = [each for each in found if round(each.recall, 3) >= limit]
        if enough:
            fastest = max(enough, key=lambda each: each.qps)
            rows.append((Cell(f">= {limit:.3f}"), *fastest.cells))
    heads = columns(["asked", RECALL, QPS], ["parameters"])
    return [block.table(heads, rows, "best QPS by recall", notes=())] if rows else []


def _lacking(block: Block) -> Iterator[tuple[Cell, ...]]:
    """What has no figures says why, below those that have."""
    for name, spot in block.subjects():
        if spot.status:
            yield status_cell(spot.status), status_cell(spot.status), Cell(name)


LAYOUT = Layout("recall and QPS", tables, metrics=(RECALL,))
