"""What a server said of itself before and after a step: by how much its counters grew, what its tables hold.

What it said before is also what the step began with; of an embedded engine, its files said it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from stepgrid.model.result_schema import LEVEL_STATES
from stepgrid.model.step_start import LEVELS, ROWS, SAID

FOLDER = "statistics"
# metric -> what the servers call it; what one does not have is not in its sum
PER_OPERATION: Mapping[str, tuple[str, ...]] = {
    "rows_read_per_op": ("Handler_read_*", "pg_stat_database.tup_returned"),
    "cache_misses_per_op": ("Innodb_buffer_pool_reads", "[Rr]ocksdb_block_cache_miss", "pg_stat_database.blks_read"),
    "log_bytes_per_op": ("Innodb_os_log_written", "[Rr]ocksdb_wal_bytes", "pg_stat_wal.wal_bytes"),
}
_ASKS = ("Handler_read_retry", "Handler_read_rnd_deleted")  # no rows
INGESTED, COMPACTED, AMPLIFICATION = "ingest_bytes", "compaction_write_bytes", "write_amplification"
_AT_THE_END = ("sizes", "garbage")  # by metric, as they are after the step
_STATES = ("sizes", "garbage", "state")
_LEVEL = re.compile(r"L\d+")  # and no sum of them
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServerFigures:
    metrics: Mapping[str, float] = field(default_factory=dict)
    counters: Mapping[str, float] = field(default_factory=dict)  # by how much they grew
    sizes: Sequence[Row] = ()  # rows of the table `sizes`
    levels: Sequence[Row] = ()  # rows of the table `levels`
    start: Mapping[str, Any] = field(default_factory=dict)  # what the step began with, by the names of model.step_start


def figures(step: Path, operations: float | None) -> ServerFigures:
    before, after = (_said(step / FOLDER / f"{when}.json") for when in ("before", "after"))
    counters = _grown(before, after, "counters")
    state = {name: value for kind in _AT_THE_END for name, value in _numbers(after, kind).items()}
    cost = _per_operation(counters, operations) if operations else {}
    metrics = {**state, **_work(_grown(before, after, "work")), **cost}
    return ServerFigures(metrics, counters, after.get("objects", ()), tuple(_levels(before, after)), _start(before))


def _said(path: Path) -> Mapping[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError):
        return {}


def _numbers(said: Mapping[str, Any], kind: str) -> dict[str, float]:
    return {str(name): float(value) for name, value in said.get(kind, {}).items()}


def _grown(before: Mapping[str, Any], after: Mapping[str, Any], kind: str) -> dict[str, float]:
    """What went down was no counter, or was set back; what is below 0 is not counted here."""
    old, new = _numbers(before, kind), _numbers(after, kind)
    grown = {name: new[name] - value for name, value in old.items() if name in new and value >= 0}
    return {name: value for name, value in grown.items() if value >= 0}


def _work(grown: Mapping[str, float]) -> dict[str, float]:
    ingested = grown.get(INGESTED)
    known = {AMPLIFICATION: grown[COMPACTED] / ingested} if ingested and COMPACTED in grown else {}
    return {**grown, **known}


def _start(before: Mapping[str, Any]) -> dict[str, Any]:
    """By the names of model.step_start."""
    said = {name: value for kind in _STATES for name, value in _numbers(before, kind).items() if name in SAID}
    rows = [row["rows"] for row in before.get("objects", ()) if "index_name" not in row and "rows" in row]
    tree: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in before.get("levels", ()):
        if _LEVEL.fullmatch(str(row["level"])) and {"files", "bytes"} <= row.keys():
            files, size = tree[row["level"]]
            tree[row["level"]] = [files + row["files"], size + row["bytes"]]
    return {**said, **({ROWS: float(sum(rows))} if rows else {}), **({LEVELS: tree} if tree else {})}


def _per_operation(grown: Mapping[str, float], operations: float) -> dict[str, float]:
    found = {metric: _named(grown, names) for metric, names in PER_OPERATION.items()}
    return {metric: sum(values) / operations for metric, values in found.items() if values}


def _named(grown: Mapping[str, float], patterns: tuple[str, ...]) -> list[float]:
    return [
        value
        for name, value in grown.items()
        if name not in _ASKS and any(fnmatchcase(name, pattern) for pattern in patterns)
    ]


def _levels(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Row]:
    """What each level has after the step, and what was done to it during the step. A new level had nothing."""
    old = {(row["family"], row["level"]): row for row in before.get("levels", ())}
    for row in after.get("levels", ()) if "levels" in before else ():
        was = old.get((row["family"], row["level"]), {})
        numbers = {name: value for name, value in row.items() if isinstance(value, int | float)}
        done = {name: value - was.get(name, 0.0) for name, value in numbers.items() if name not in LEVEL_STATES}
        if all(value >= 0 for value in done.values()):
            yield {**row, **done, **_average(done)}


def _average(done: Mapping[str, float]) -> dict[str, float]:
    count = done.get("compactions")
    return {"average_seconds": done["seconds"] / count} if count and "seconds" in done else {}
