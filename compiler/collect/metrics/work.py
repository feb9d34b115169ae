"""Metrics of the work of an engine: what it flushed, compacted, read and wrote."""

from __future__ import annotations

from compiler.collect.metrics.metric import Metric
from compiler.collect.metrics.windows import OPENED

WORK = (
    Metric("ingest_bytes", "B", None, "Bytes of the write batches that clients wrote.", OPENED),
    Metric("wal_bytes", "B", None, "Bytes written to the write-ahead log.", OPENED),
    Metric(
        "flush_bytes", "B", None, "Bytes of SST files that flushes wrote; a part of compaction_write_bytes.", OPENED
    ),
    Metric(
        "compaction_write_bytes",
        "B",
        None,
        "Bytes of SST files that flushes and compactions wrote. Printed to a hundredth of a GiB; where the rate "
        "times the uptime is more precise, that: likewise the other volumes.",
        OPENED,
    ),
    Metric("compaction_read_bytes", "B", None, "Bytes that compactions read.", OPENED),
    Metric("compaction_write_mb_per_s", "MiB/s", None, "compaction_write_bytes over uptime_seconds.", OPENED),
    Metric(
        "write_amplification",
        "ratio",
        "lower",
        "compaction_write_bytes / ingest_bytes, without the log. What earlier steps left to flush and compact is in "
        "it; what its own memtables still hold is not, so a short load is below 1. Published summaries (w_amp) add the "
        "flushed bytes once more. Absent when nothing was ingested.",
        OPENED,
    ),
    Metric("compactions", "jobs", None, "Flushes and compactions done.", OPENED),
    Metric("compaction_seconds", "s", None, "Wall time of all flush and compaction jobs together.", OPENED),
    Metric(
        "compaction_cpu_seconds",
        "s",
        None,
        "CPU time of all flush and compaction jobs together, found by the column's name: published summaries read "
        "a neighbour of it from RocksDB 10.3 on.",
        OPENED,
    ),
    Metric("compaction_keys_in", "keys", None, "Keys that compactions read, rounded as RocksDB prints it.", OPENED),
    Metric("compaction_keys_dropped", "keys", None, "Keys that compactions dropped, rounded likewise.", OPENED),
    Metric("blob_read_bytes", "B", None, "Bytes of blobs that compactions read.", OPENED),
    Metric("blob_write_bytes", "B", None, "Bytes of blobs that flushes and compactions wrote.", OPENED),
    Metric(
        "block_cache_hit_pct",
        "%",
        "higher",
        "Block cache hits, of hits and misses; needs the option `statistics`.",
        OPENED,
    ),
)
