"""Metrics of how long operations took."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.model.metrics.metric import BENCHMARK, Metric

_LATENCY: Mapping[str, str] = {
    "avg_us": "Mean latency",
    "p50_us": "Median latency",
    "p75_us": "75th percentile of latency",
    "p99_us": "99th percentile of latency",
    "p99_9_us": "99.9th percentile of latency",
    "p99_99_us": "99.99th percentile of latency",
    "max_us": "Highest latency",
}
_BUCKETS = "; percentiles are interpolated within the histogram's buckets"


def latencies(operation: str = "") -> tuple[Metric, ...]:
    prefix, of = (f"{operation}_", f" of a {operation}, in a benchmark of several kinds") if operation else ("", "")
    return tuple(
        Metric(f"{prefix}{name}", "us", "lower", f"{what}{of}{_BUCKETS if name.startswith('p') else ''}.", BENCHMARK)
        for name, what in _LATENCY.items()
    )


LATENCY = latencies()
BY_OPERATION = tuple(
    metric for operation in ("read", "write", "delete", "seek", "merge") for metric in latencies(operation)
)
