"""The client's histograms: statements by the logarithm of their time, 32 buckets for each doubling from 1 µs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stepgrid.drivers.insert_benchmark.parser.report import Line
from stepgrid.model.figures import Buckets

PER_DOUBLING = 32
PERCENTILES: Mapping[str, float] = {
    "p50_us": 50, "p75_us": 75, "p95_us": 95, "p99_us": 99, "p99_9_us": 99.9, "p99_99_us": 99.99,
}  # fmt: skip


def merged(lines: Sequence[Line]) -> dict[int, int]:
    """Of all clients: bucket -> statements."""
    found: dict[int, int] = {}
    for line in lines:
        for bucket, count in line["buckets"]:
            found[bucket] = found.get(bucket, 0) + int(count)
    return dict(sorted(found.items()))


def whole(operation: str, counts: Mapping[int, int]) -> Buckets:
    least = [_limit(bucket) if bucket else 0.0 for bucket in counts]
    return Buckets(operation, least, [_limit(bucket + 1) for bucket in counts], list(counts.values()))


def figures(counts: Mapping[int, int]) -> dict[str, float]:
    """In microseconds: the upper limit of the bucket that has the statement."""
    total = sum(counts.values())
    return {name: _at(counts, total * percent / 100) for name, percent in PERCENTILES.items()} if total else {}


def _at(counts: Mapping[int, int], rank: float) -> float:
    seen = 0
    for bucket, count in counts.items():
        seen += count
        if seen >= rank:
            return _limit(bucket + 1)
    raise AssertionError("a rank beyond the last statement")


def _limit(bucket: int) -> float:
    return float(2 ** (bucket / PER_DOUBLING))
