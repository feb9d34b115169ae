"""What the engine says of the memory that it holds: `memstats`, and the block cache's line in its statistics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from stepgrid.drivers.db_bench.parser.dump.compaction import size

_MEMTABLES = "rocksdb.size-all-mem-tables"
_OF_MEMORY = "mem-table"
_PROPERTY = re.compile(r"\n(rocksdb\.[a-z-]*mem-tables?): (\d+)$", re.MULTILINE)
# 8.1 does not end the line before it
_CACHE = re.compile(r"Block cache \S+ capacity: (?P<capacity>\S+ [KMGT]?B)\b(?P<rest>.*)$", re.MULTILINE)
_USAGE = re.compile(r" usage: (\S+ [KMGT]?B)\b")


@lru_cache(maxsize=2)
def counters(text: str) -> Mapping[str, float]:
    """By RocksDB's names; the last counts."""
    return {name: float(value) for name, value in _PROPERTY.findall(f"\n{text}")} if _OF_MEMORY in text else {}


def figures(text: str) -> dict[str, float]:
    memtables = counters(text).get(_MEMTABLES)
    values = {"memtable_bytes": memtables, **_cache(text)}
    return {name: value for name, value in values.items() if value is not None}


def _cache(text: str) -> dict[str, float | None]:
    lines = list(_CACHE.finditer(text))
    if not lines:
        return {}
    used = _USAGE.search(lines[-1]["rest"])
    return {
        "block_cache_capacity_bytes": size(lines[-1]["capacity"]),
        "block_cache_bytes": size(used[1]) if used else None,
    }
