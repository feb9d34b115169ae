"""The block cache's hit rate, from the counters that --statistics prints at the end."""

from __future__ import annotations

from stepgrid.drivers.db_bench.parser.statistics import counters

_HIT, _MISS = "rocksdb.block.cache.hit", "rocksdb.block.cache.miss"


def figures(text: str) -> dict[str, float]:
    found = counters(text)
    hits, misses = found.get(_HIT), found.get(_MISS)
    if hits is None or misses is None or not hits + misses:
        return {}
    return {"block_cache_hit_pct": 100 * hits / (hits + misses)}
