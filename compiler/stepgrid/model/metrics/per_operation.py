"""Metrics of what an operation cost: what was used in the step over the operations that its clients did."""

from __future__ import annotations

from stepgrid.model.metrics.metric import MEASURED, STEP, Metric

PER_OPERATION = (
    Metric("cpu_us_per_op", "us/operation", "lower",
           "cpu_seconds / operations, background work and a background writer included. Absent where the step also "
           "ran another benchmark that counts operations: the time of both is not to be told apart.", MEASURED),
    Metric("client_cpu_us_per_op", "us/operation", "lower", "client_cpu_seconds / operations.", MEASURED),
    Metric("server_cpu_us_per_op", "us/operation", "lower", "server_cpu_seconds / operations.", MEASURED),
    Metric("context_switches_per_op", "switches/operation", "lower",
           "Context switches of the host / operations; absent where cpu_us_per_op is.", MEASURED),
    Metric("host_cpu_us_per_op", "us/operation", "lower",
           "User and system time of the whole host / operations, by vmstat's percentages. The published cpu/o is "
           "percentages of an unnamed number of cores instead.", MEASURED),
    Metric("reads_per_op", "requests/operation", "lower",
           "Reads that the database's device completed / operations; absent where cpu_us_per_op is.", MEASURED),
    Metric("read_kb_per_op", "KiB/operation", "lower", "What the device read / operations; absent likewise.", MEASURED),
    Metric("writes_per_op", "requests/operation", "lower",
           "Writes that the database's device completed / operations; absent likewise.", MEASURED),
    Metric(
        "write_kb_per_op", "KiB/operation", "lower", "What the device wrote / operations; absent likewise.", MEASURED
    ),
    Metric("reads_per_lookup", "requests/operation", "lower", "Reads of the device / (gets + seeks).", MEASURED),
    Metric("read_kb_per_lookup", "KiB/operation", "lower", "What the device read / (gets + seeks).", MEASURED),
    Metric("write_kb_per_put", "KiB/operation", "lower", "What the device wrote / puts.", MEASURED),
    Metric("rows_read_per_op", "rows/operation", "lower",
           "Rows that the server read from its tables / operations: Handler_read_* of mysqld and mariadbd, "
           "tup_returned of PostgreSQL.", STEP),
    Metric("cache_misses_per_op", "blocks/operation", "lower",
           "Pages or blocks that the server did not find in its own cache / operations: Innodb_buffer_pool_reads, "
           "Rocksdb_block_cache_miss, blks_read.", STEP),
    Metric("log_bytes_per_op", "B/operation", "lower",
           "What the server wrote to its log / operations: Innodb_os_log_written, Rocksdb_wal_bytes, wal_bytes (from "
           "PostgreSQL 14 on).", STEP),
    Metric("writes_per_insert", "requests/row", "lower",
           "Writes that the database's device completed / rows inserted, where a step inserts beside queries.", STEP),
    Metric("write_kb_per_insert", "KiB/row", "lower",
           "What the device wrote / rows inserted, where a step inserts beside queries.", STEP),
)  # fmt: skip
