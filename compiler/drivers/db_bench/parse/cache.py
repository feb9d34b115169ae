"""The block cache's hit rate, from the counters that --statistics prints at the end."""

from __future__ import annotations

import re


def figures(text: str) -> dict[str, float]:
    hits, misses = _counter("rocksdb.block.cache.hit", text), _counter("rocksdb.block.cache.miss", text)
    if hits is None or misses is None or not hits + misses:
        return {}
    return {"block_cache_hit_pct": 100 * hits / (hits + misses)}


def _counter(name: str, text: str) -> int | None:
    found = re.findall(rf"^{re.escape(name)} COUNT : (\d+)$", text, re.MULTILINE)
    return int(found[-1]) if found else None
