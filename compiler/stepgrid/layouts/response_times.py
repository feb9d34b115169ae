"""How long operations took, by class: the share of them in each, a table for each kind of operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stepgrid.model import number_format
from stepgrid.model.latency_classes import NAMES
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import Block, Layout, LayoutCell, cell, fixed

FEW = "nonzero"  # some, and fewer than three decimals show
LEGEND = (
    "per cent of the operations that took no longer than the class's limit, and longer than that of the one before; "
    "gt: longer than 16s; max: seconds",
    f"{FEW}: some, below 0.0005 %; a bucket of the client's that lies across a limit counts above it",
)
QUERIES = (
    "range",
    "point",
)  # a step of the insert benchmark has those of one kind, by secondary index or by primary key
_LONGEST = ("max_insert_seconds", "max_delete_seconds", "max_query_seconds")


def tables(block: Block) -> list[Table]:
    operations = dict.fromkeys(name for spot in block.spots.values() for name in spot.times)
    return [_table(block, operation) for operation in operations]


def _table(block: Block, operation: str) -> Table:
    rows = ((*_cells(spot, operation), Cell(subject)) for subject, spot in block.subjects())
    return block.table(columns((*NAMES, "max"), ["tag"]), rows, operation, notes=(*block.notes, *LEGEND))


def _cells(spot: LayoutCell, operation: str) -> list[Cell]:
    shares: Sequence[float | None] = spot.times.get(operation) or [None] * len(NAMES)
    return [*(cell(spot, percent(share)) for share in shares), fixed(spot, _longest(spot.values, operation), 3)]


def percent(share: float | None) -> str | None:
    shown = number_format.fixed(share, 3)
    return FEW if share and shown == "0.000" else shown


def _longest(values: Mapping[str, float], operation: str) -> float | None:
    kind = "query" if operation in QUERIES else operation
    if (known := values.get(f"max_{kind}_seconds")) is not None:
        return known
    found = values.get(f"{operation}_max_us" if operation else "max_us")
    return None if found is None else found / 1e6


LAYOUT = Layout("response times by class", tables, metrics=_LONGEST, times=True)
