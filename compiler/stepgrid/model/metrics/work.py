"""Metrics of the work of an engine: what it flushed, compacted, read and wrote."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.windows import OPENED

DRAIN_BEGINS = "when the step begins to wait for compactions"

WORK = (
    Metric(
        "ingest_bytes",
        "B",
        None,
        "Bytes of the write batches that clients wrote. Printed to a hundredth of a GiB; where the output says the "
        "same more precisely (its rate and the uptime, MiB of the first interval, the compaction table, `statistics`), "
        "and both agree, that: likewise the other volumes.",
        OPENED,
    ),
    Metric(
        "keys_written",
        "keys",
        None,
        "Keys that clients wrote. Rounded down as RocksDB prints it (10K may be 10,999), where neither `statistics` "
        "nor its count of writes to the log, of which none was synced, has it to the last.",
        OPENED,
    ),
    Metric("added_file_bytes", "B", None, "Bytes of files that were added as they are.", OPENED),
    Metric("wal_bytes", "B", None, "Bytes written to the write-ahead log.", OPENED),
    Metric(
        "flush_bytes", "B", None, "Bytes of SST files that flushes wrote; a part of compaction_write_bytes.", OPENED
    ),
    Metric(
        "compaction_write_bytes",
        "B",
        None,
        "Bytes of SST files that flushes and compactions wrote.",
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
    Metric(
        "write_amplification_published",
        "ratio",
        "lower",
        "(compaction_write_bytes + flush_bytes) / ingest_bytes, as published summaries have it: what was flushed "
        "counts twice, so that a load without compaction has 2. For comparison with those, and nothing else.",
        OPENED,
    ),
    Metric(
        "drain_seconds",
        "s",
        "lower",
        "Time of the flushes and compactions that a step awaits behind its benchmark, up to its statistics. The 5 s "
        "that db_bench sleeps before it looks at compactions, and the 10 s between two looks up to 8.6, are in it. "
        "Averages of the step are without that time.",
        "from the end of the measured benchmark to the step's last statistics dump",
    ),
    Metric(
        "drain_l0_files",
        "files",
        "lower",
        "Files of level 0 when the drain began, what was in memory flushed: the debt that the benchmark left there. "
        "Debt in the levels below is not in it. Needs `levelstats` between the benchmark and the wait.",
        DRAIN_BEGINS,
    ),
    Metric("drain_l0_bytes", "B", "lower", "Size of these files; printed in MiB.", DRAIN_BEGINS),
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
