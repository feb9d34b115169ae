"""Metrics of what the clients of a step got done."""

from __future__ import annotations

from compiler.collect.metrics.metric import Metric
from compiler.collect.metrics.windows import BENCHMARK

THROUGHPUT = (
    Metric(
        "qps",
        "operations/s",
        "higher",
        "Operations of all clients per second of wall time, as the engine's benchmark prints it; below 1000, where the "
        "fraction that it cuts off matters, operations / seconds. A background writer's operations are not in it.",
        BENCHMARK,
    ),
    Metric(
        "usec_per_op",
        "us",
        "lower",
        "Time of the clients per operation: with n clients it is n times the time between two operations.",
        BENCHMARK,
    ),
    Metric(
        "seconds",
        "s",
        None,
        "Wall time of the benchmark, without opening the database. Before RocksDB 7.3 it is not printed: operations / "
        "qps.",
        BENCHMARK,
    ),
    Metric(
        "operations",
        "operations",
        None,
        "Operations of all clients. Before RocksDB 7.3 they are not printed: the count of the latency histogram, where "
        "a sample is one operation.",
        BENCHMARK,
    ),
    Metric("mb_per_s", "MiB/s", "higher", "Bytes of keys and values per second of wall time.", BENCHMARK),
    Metric("found_pct", "%", None, "Keys found, of those looked up; of one client where there are several.", BENCHMARK),
)
