"""The latency histogram (--histogram): a line per bucket, with the bucket's latency and how many events had it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from stepgrid.model.figures import Buckets, by_column

HEAD = "Latency histogram (values are in milliseconds)\n"
PERCENTILES: Mapping[str, float] = {
    "p50_us": 50,
    "p75_us": 75,
    "p95_us": 95,
    "p99_us": 99,
    "p99_9_us": 99.9,
    "p99_99_us": 99.99,
}
STEP = math.exp(math.log(100_000 / 0.001) / 1023)  # from one bucket's latency to the next: 1024 of 1 us to 100 s

_BUCKET = re.compile(r"^ +(\d+\.\d+) \|\**? +(\d+)$", re.MULTILINE)

Lines = Sequence[tuple[float, int]]  # (milliseconds, events), ascending


def buckets(text: str) -> Lines:
    """Empty without --histogram."""
    start = text.find(HEAD)
    if start < 0:
        return ()
    end = text.find("SQL statistics:", start)
    return [(float(value), int(count)) for value, count in _BUCKET.findall(text, start, end if end >= 0 else len(text))]


def microseconds(milliseconds: float) -> float:
    """As many digits as sysbench prints, and none that binary fractions add."""
    return round(milliseconds * 1000, 3)


def figures(found: Lines) -> dict[str, float]:
    """In microseconds. A percentile is the latency of the bucket of its event, which is found as sysbench does."""
    events = sum(count for _, count in found)
    if not events:
        return {}
    ranks = {name: int(events * percent / 100 + 0.5) for name, percent in PERCENTILES.items()}
    return {name: microseconds(_at(found, rank)) for name, rank in ranks.items()}


def whole(found: Lines) -> Sequence[Buckets]:
    """A latency counts to the bucket that is nearest to it, by its logarithm."""
    half = math.sqrt(STEP)
    return by_column(("", value * 1000 / half, value * 1000 * half, count) for value, count in found)


def _at(found: Lines, rank: int) -> float:
    seen = 0
    for value, count in found:
        seen += count
        if seen >= rank:
            return value
    return found[-1][0]
