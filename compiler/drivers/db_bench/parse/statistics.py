"""The engine's counters, as --statistics prints them at the end: tickers, and count and sum of each histogram."""

from __future__ import annotations

import re

_TICKER = re.compile(r"^(rocksdb\.\S+) COUNT : (\d+)$", re.MULTILINE)
_HISTOGRAM = re.compile(r"^(rocksdb\.\S+) P50 : .* COUNT : (\d+) SUM : (\d+)$", re.MULTILINE)


def counters(text: str) -> dict[str, float]:
    """By RocksDB's names; printed several times, the last counts."""
    found = {name: float(count) for name, count in _TICKER.findall(text)}
    for name, count, total in _HISTOGRAM.findall(text):
        found |= {f"{name}.count": float(count), f"{name}.sum": float(total)}
    return found
