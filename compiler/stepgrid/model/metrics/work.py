"""Metrics of the work of an engine: what it flushed, compacted, read and wrote."""

from __future__ import annotations

from stepgrid.model.metrics.metric import DUMP, END, OPENED, Metric

DRAIN_BEGINS = "when the step begins to wait for compactions"

WORK = (
    Metric("ingest_bytes", "B", None,
           "Bytes of the write batches that clients wrote. Printed to a hundredth of a GiB; where the output says "
           "the same more precisely (its rate and the uptime, MiB of the first interval, the compaction table, "
           "`statistics`), and both agree, that: likewise the other volumes.", OPENED),
    Metric("keys_written", "keys", None,
           "Keys that clients wrote. Rounded down as RocksDB prints it (10K may be 10,999), where neither "
           "`statistics` nor its count of writes to the log, of which none was synced, has it to the last.", OPENED),
    Metric("added_file_bytes", "B", None, "Bytes of files that were added as they are.", OPENED),
    Metric("wal_bytes", "B", None, "Bytes written to the write-ahead log.", OPENED),
    Metric(
        "flush_bytes", "B", None, "Bytes of SST files that flushes wrote; a part of compaction_write_bytes.", OPENED
    ),
    Metric("compaction_write_bytes", "B", None,
           "Bytes of SST files that flushes and compactions wrote.", OPENED),
    Metric("compaction_read_bytes", "B", None, "Bytes that compactions read.", OPENED),
    Metric("compaction_write_mb_per_s", "MiB/s", None, "compaction_write_bytes over uptime_seconds.", OPENED),
    Metric("write_amplification", "ratio", "lower",
           "compaction_write_bytes / ingest_bytes, without the log. What earlier steps left to flush and compact is "
           "in it; what its own memtables still hold is not, so a short load is below 1. Published summaries (w_amp) "
           "add the flushed bytes once more. Absent when nothing was ingested.", OPENED),
    Metric("write_amplification_published", "ratio", "lower",
           "(compaction_write_bytes + flush_bytes) / ingest_bytes, as published summaries have it: what was flushed "
           "counts twice, so that a load without compaction has 2. For comparison with those, and nothing else.",
           OPENED),
    Metric("drain_seconds", "s", "lower",
           "Time of the flushes and compactions that a step awaits behind its benchmark, up to its statistics. The 5 "
           "s that db_bench sleeps before it looks at compactions, and the 10 s between two looks up to 8.6, are in "
           "it. Averages of the step are without that time.",
           "from the end of the measured benchmark to the step's last statistics dump"),
    Metric("drain_l0_files", "files", "lower",
           "Files of level 0 when the drain began, what was in memory flushed: the debt that the benchmark left "
           "there. Debt in the levels below is not in it. Needs `levelstats` between the benchmark and the wait.",
           DRAIN_BEGINS),
    Metric("drain_l0_bytes", "B", "lower", "Size of these files; printed in MiB.", DRAIN_BEGINS),
    Metric("compactions", "jobs", None, "Flushes and compactions done.", OPENED),
    Metric("compaction_seconds", "s", None, "Wall time of all flush and compaction jobs together.", OPENED),
    Metric("compaction_cpu_seconds", "s", None,
           "CPU time of all flush and compaction jobs together, found by the column's name: published summaries read "
           "a neighbour of it from RocksDB 10.3 on.", OPENED),
    Metric("compaction_keys_in", "keys", None, "Keys that compactions read, rounded as RocksDB prints it.", OPENED),
    Metric("compaction_keys_dropped", "keys", None, "Keys that compactions dropped, rounded likewise.", OPENED),
    Metric("blob_read_bytes", "B", None, "Bytes of blobs that compactions read.", OPENED),
    Metric("blob_write_bytes", "B", None, "Bytes of blobs that flushes and compactions wrote.", OPENED),
    Metric("block_cache_hit_pct", "%", "higher",
           "Block cache hits, of hits and misses; needs the option `statistics`.", OPENED),
)  # fmt: skip


# Metrics of how large a database is.

SIZES = (
    Metric("database_bytes", "B", None, "Size of the files in the database's folder.", END),
    Metric("tables_bytes", "B", None,
           "Size of the tables and their indexes, without the server's logs and other databases: of published "
           "results.", END),
    Metric("data_bytes", "B", None, "Size of the tables' data, as the server tells it.", END),
    Metric("index_bytes", "B", None,
           "Size of the tables' indexes, as the server tells it: of InnoDB and MyRocks the secondary ones, since the "
           "primary key's has the data; of PostgreSQL all.", END),
)  # fmt: skip


# Metrics of writes that had to wait.


def _stall(name: str, what: str) -> Metric:
    return Metric(f"stall_{name}", "count", "lower", what, OPENED)


STALLS = (
    Metric("stall_pct", "%", "lower",
           "Time in which writes were delayed or stopped, of the uptime; of a step that awaits a drain behind its "
           "benchmark, of the benchmark's time.", OPENED),
    Metric("stall_pct_published", "%", "lower",
           "The same of such a step as published summaries have it: of the uptime, and so of the drain too. For "
           "comparison with those, and nothing else.", OPENED),
    Metric("stall_seconds", "s", "lower", "Time in which writes were delayed or stopped.", OPENED),
    Metric("stalls", "count", "lower", "stall_delays + stall_stops.", OPENED),
    _stall("delays", "Delays of every cause: level 0, memtables, compaction debt."),
    _stall("stops", "Stops of every cause: level 0, memtables, compaction debt."),
    _stall("l0_delays", "Delays because of many level 0 files (before 8.1: level0_slowdown)."),
    _stall("l0_stops", "Stops because of too many level 0 files (before 8.1: level0_numfiles)."),
    _stall("l0_compacting_delays", "Those of stall_l0_delays that met a compaction of level 0 at work."),
    _stall("l0_compacting_stops", "Those of stall_l0_stops that met a compaction of level 0 at work."),
    _stall("memtable_delays", "Delays because of many memtables (before 8.1: memtable_slowdown)."),
    _stall("memtable_stops", "Stops because of too many memtables (before 8.1: memtable_compaction)."),
    _stall("pending_delays", "Delays because of compaction debt."),
    _stall("pending_stops", "Stops because of compaction debt."),
    _stall("write_buffer_manager_stops", "Stops by the write buffer manager, of the whole database (from 8.1)."),
)  # fmt: skip


# Metrics of the state of an LSM tree.

TREE = (
    Metric("lsm_bytes", "B", None, "Size of the live SST files, as the compaction table sums it.", DUMP),
    Metric("lsm_files", "files", None, "Live SST files, as the compaction table sums them.", DUMP),
    Metric("l0_bytes", "B", None, "Size of level 0.", DUMP),
    Metric("l0_files", "files", None, "Files of level 0. Absent when the level was never filled.", DUMP),
    Metric("blob_bytes", "B", None, "Size of the blob files; printed in tenths of a GiB.", DUMP),
    Metric("pending_compaction_bytes", "B", "lower", "Compaction debt as RocksDB estimates it (from 9.0).", DUMP),
    Metric(
        "memtable_bytes", "B", None, "Memory of all memtables; of db_bench it needs the benchmark `memstats`.", DUMP
    ),
    Metric("block_cache_bytes", "B", None, "What the block cache holds (from RocksDB 7.7).", DUMP),
    Metric("block_cache_capacity_bytes", "B", None, "What the block cache may hold (from RocksDB 6.22).", DUMP),
    Metric("uptime_seconds", "s", None, "How long the database has been open.", DUMP),
)
