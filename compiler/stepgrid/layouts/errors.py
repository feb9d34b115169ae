"""Steps whose clients had to try again, or to connect again: the others are not named."""

from __future__ import annotations

from dataclasses import replace

from stepgrid.layouts import figures
from stepgrid.model.table import Table
from stepgrid.plugins.layout import ARMS, RANGE, STEP, Block, Layout

ERRORS = ("ignored_errors", "reconnects")


def tables(block: Block) -> list[Table]:
    found = []
    for metric in ERRORS:
        rows = [row for row in range(len(block.rows)) if any(spot.values.get(metric) for spot in block.line(row))]
        found += figures.tables(_only(replace(block, metrics=(metric,)), rows)) if rows else []
    return found


def _only(block: Block, rows: list[int]) -> Block:
    place = {row: index for index, row in enumerate(rows)}
    spots = {(place[row], column): spot for (row, column), spot in block.spots.items() if row in place}
    return replace(block, rows=tuple(block.rows[row] for row in rows), spots=spots)


LAYOUT = Layout("errors and reconnects", tables, (STEP, RANGE), (ARMS,), (), ERRORS)
