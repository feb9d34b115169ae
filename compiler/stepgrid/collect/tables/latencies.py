"""Percentiles by name: which metrics are rows of the table `latencies`."""

from __future__ import annotations

import re
from functools import lru_cache

_PERCENTILE = re.compile(r"(?:(?P<operation>[a-z]+)_)?p(?P<whole>\d+)(?:_(?P<rest>\d+))?_us")


@lru_cache(4096)  # of the same few names for every step
def percentile(metric: str) -> tuple[str | None, float] | None:
    """p99_9_us -> (None, 99.9), read_p50_us -> ("read", 50); None for a metric that is no percentile."""
    match = _PERCENTILE.fullmatch(metric)
    return (match["operation"], float(f"{match['whole']}.{match['rest'] or 0}")) if match else None
