"""Counters of write stalls: a row for each counter, by RocksDB's name, a column for each arm. Zeros are shown."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import Block, Layout, fixed, legend

COUNTERS: Mapping[str, str] = {
    "cf-l0-file-count-limit-delays-with-ongoing-compaction": "stall_l0_compacting_delays",
    "cf-l0-file-count-limit-stops-with-ongoing-compaction": "stall_l0_compacting_stops",
    "l0-file-count-limit-delays": "stall_l0_delays",
    "l0-file-count-limit-stops": "stall_l0_stops",
    "memtable-limit-delays": "stall_memtable_delays",
    "memtable-limit-stops": "stall_memtable_stops",
    "pending-compaction-bytes-delays": "stall_pending_delays",
    "pending-compaction-bytes-stops": "stall_pending_stops",
    "total-delays": "stall_delays",
    "total-stops": "stall_stops",
}
_TOTALS = {
    "total-delays": ("l0-file-count-limit-delays", "memtable-limit-delays", "pending-compaction-bytes-delays"),
    "total-stops": ("l0-file-count-limit-stops", "memtable-limit-stops", "pending-compaction-bytes-stops"),
}


def tables(block: Block) -> list[Table]:
    """An arm that has no figures is no column: what became of it stands elsewhere."""
    subjects = [(name, spot) for name, spot in block.subjects() if not spot.status]
    heads, before = legend([name for name, _ in subjects])
    rows = (
        (*(fixed(spot, count(spot.values, counter), 0) for _, spot in subjects), Cell(counter)) for counter in COUNTERS
    )
    return [block.table(columns(heads, ["counter"]), rows, before=before)] if subjects else []


def count(values: Mapping[str, float], counter: str) -> float | None:
    """A total that was not printed is the sum of its three causes: rows of `cf-` are parts of them."""
    found = values.get(COUNTERS[counter])
    parts = [values.get(COUNTERS[part]) for part in _TOTALS.get(counter, ())]
    known = [part for part in parts if part is not None]
    return sum(known) if found is None and parts and len(known) == len(parts) else found


LAYOUT = Layout("write stalls", tables, metrics=tuple(COUNTERS.values()))
