"""What a server said of itself before and after a step: by how much its counters grew, how large its tables are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

FOLDER = "statistics"
# metric -> what the servers call it; what one does not have is not in its sum
PER_OPERATION: Mapping[str, tuple[str, ...]] = {
    "rows_read_per_op": ("Handler_read_*", "pg_stat_database.tup_returned"),
    "cache_misses_per_op": ("Innodb_buffer_pool_reads", "[Rr]ocksdb_block_cache_miss", "pg_stat_database.blks_read"),
    "log_bytes_per_op": ("Innodb_os_log_written", "[Rr]ocksdb_wal_bytes", "pg_stat_wal.wal_bytes"),
}
_ASKS = ("Handler_read_retry", "Handler_read_rnd_deleted")  # no rows


def counters(step: Path) -> dict[str, float]:
    """What went down was no counter, or was set back."""
    before, after = (_numbers(step, when, "counters") for when in ("before", "after"))
    grown = {name: after[name] - value for name, value in before.items() if name in after}
    return {name: value for name, value in grown.items() if value >= 0}


def figures(step: Path, grown: Mapping[str, float], operations: float | None) -> dict[str, float]:
    return {**_numbers(step, "after", "sizes"), **(_per_operation(grown, operations) if operations else {})}


def _per_operation(grown: Mapping[str, float], operations: float) -> dict[str, float]:
    found = {metric: _named(grown, names) for metric, names in PER_OPERATION.items()}
    return {metric: sum(values) / operations for metric, values in found.items() if values}


def _named(grown: Mapping[str, float], patterns: tuple[str, ...]) -> list[float]:
    return [
        value
        for name, value in grown.items()
        if name not in _ASKS and any(fnmatchcase(name, pattern) for pattern in patterns)
    ]


def _numbers(step: Path, when: str, kind: str) -> dict[str, float]:
    try:
        found: Any = json.loads((step / FOLDER / f"{when}.json").read_text(encoding="utf-8"))
        return {str(name): float(value) for name, value in found[kind].items()}
    except (OSError, ValueError, KeyError):
        return {}
