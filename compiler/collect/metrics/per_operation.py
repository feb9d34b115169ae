"""Metrics of what an operation cost: what was used in the step over the operations that its clients did."""

from __future__ import annotations

from compiler.collect.metrics.metric import Metric
from compiler.collect.metrics.windows import STEP

PER_OPERATION = (
    Metric(
        "cpu_us_per_op",
        "us/operation",
        "lower",
        "cpu_seconds / operations, background work and a background writer included. Absent where the step also ran "
        "another benchmark that counts operations: the time of both is not to be told apart.",
        STEP,
    ),
    Metric("client_cpu_us_per_op", "us/operation", "lower", "client_cpu_seconds / operations.", STEP),
    Metric("server_cpu_us_per_op", "us/operation", "lower", "server_cpu_seconds / operations.", STEP),
    Metric(
        "context_switches_per_op",
        "switches/operation",
        "lower",
        "Context switches of the host / operations; absent where cpu_us_per_op is.",
        STEP,
    ),
    Metric(
        "host_cpu_us_per_op",
        "us/operation",
        "lower",
        "User and system time of the whole host / operations, by vmstat's percentages. The published cpu/o is "
        "percentages of an unnamed number of cores instead.",
        STEP,
    ),
    Metric(
        "reads_per_op",
        "requests/operation",
        "lower",
        "Reads that the database's device completed / operations; absent where cpu_us_per_op is.",
        STEP,
    ),
    Metric("read_kb_per_op", "KiB/operation", "lower", "What the device read / operations; absent likewise.", STEP),
    Metric(
        "writes_per_op",
        "requests/operation",
        "lower",
        "Writes that the database's device completed / operations; absent likewise.",
        STEP,
    ),
    Metric("write_kb_per_op", "KiB/operation", "lower", "What the device wrote / operations; absent likewise.", STEP),
    Metric(
        "writes_per_insert",
        "requests/row",
        "lower",
        "Writes that the database's device completed / rows inserted, where a step inserts beside queries.",
        STEP,
    ),
    Metric(
        "write_kb_per_insert",
        "KiB/row",
        "lower",
        "What the device wrote / rows inserted, where a step inserts beside queries.",
        STEP,
    ),
)
