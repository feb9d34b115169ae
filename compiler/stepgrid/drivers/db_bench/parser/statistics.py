"""The engine's counters, as --statistics prints them at the end: tickers, and what it says of each histogram."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

_BEGINS = "\nrocksdb."
_TICKER = re.compile(r"\n(rocksdb\.\S+) COUNT : (\d+)$", re.MULTILINE)
_HISTOGRAM = re.compile(r"\n(rocksdb\.\S+)((?: P\d+(?:\.\d+)? : \S+)*) COUNT : (\d+) SUM : (\d+)$", re.MULTILINE)
_PERCENTILE = re.compile(r"P(\S+) : (\d+\.\d+)")
_OF_HISTOGRAM = " SUM : "
_HIGHEST = "100"


@lru_cache(maxsize=2)
def counters(text: str) -> Mapping[str, float]:
    """By RocksDB's names; printed several times, the last counts. A histogram without samples has no percentiles."""
    lines = f"\n{text}"
    start = lines.find(_BEGINS)
    if start < 0:
        return {}
    found = {name: float(count) for name, count in _TICKER.findall(lines, start)}
    for name, percentiles, count, total in _HISTOGRAM.findall(lines, start) if _OF_HISTOGRAM in lines else ():
        found |= {f"{name}.count": float(count), f"{name}.sum": float(total)}
        if int(count):
            found |= {f"{name}.{_called(rank)}": float(value) for rank, value in _PERCENTILE.findall(percentiles)}
    return found


def _called(rank: str) -> str:
    return "max" if rank == _HIGHEST else f"p{rank}"


_HIT, _MISS = "rocksdb.block.cache.hit", "rocksdb.block.cache.miss"


def block_cache(text: str) -> dict[str, float]:
    """Its hit rate."""
    found = counters(text)
    hits, misses = found.get(_HIT), found.get(_MISS)
    if hits is None or misses is None or not hits + misses:
        return {}
    return {"block_cache_hit_pct": 100 * hits / (hits + misses)}
