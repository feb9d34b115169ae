"""The metrics of steps of kind sysbench that no other kind has."""

from __future__ import annotations

from compiler.collect.metrics.metric import Metric

RUN = "the run, without its warmup"

SYSBENCH = (
    Metric("transactions_per_s", "transactions/s", "higher", "Transactions of all clients per second.", RUN),
    Metric("p95_us", "us", "lower", "95th percentile of latency, of whole transactions.", RUN),
    Metric("ignored_errors", "errors", "lower", "Errors after which a transaction was tried again.", RUN),
    Metric("reconnects", "reconnects", "lower", "Connections that were lost and made again.", RUN),
    Metric(
        "rows_per_s",
        "rows/s",
        "higher",
        "Rows that scans of a whole table read per second, of all clients together. Published figures of a scan are "
        "made by three other definitions (docs/legacy.md).",
        RUN,
    ),
    Metric(
        "scan_rate",
        "1",
        "higher",
        "The published figure of a scan as it stands, where it is not known by which of its three definitions it was "
        "made: good for ratios within one table, and for nothing else.",
        RUN,
    ),
)
