"""Every metric, once: its unit, which way is better, what it is, over which window. docs/metrics.md is made of it.

`python -m compiler.collect.metrics_page > docs/metrics.md`
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from compiler.collect.metric import STEP, Metric
from compiler.collect.quiesce_metrics import QUIET
from compiler.collect.series_metrics import VARIANCE
from compiler.collect.sql_metrics import SQL
from compiler.collect.sysbench_metrics import SYSBENCH
from compiler.collect.usage_metrics import COLLECTED, DEVICE, HOST, MEMORY, PROCESSES

BENCHMARK = "the measured benchmark: the first of the step that counts operations"
OPENED = "from when the step opened the database to its last statistics dump (its end, where it lists `stats`)"
END = "at the end of the step"
DUMP = "at the step's last statistics dump (its end, where it lists `stats`)"


_THROUGHPUT = (
    Metric(
        "qps",
        "operations/s",
        "higher",
        "Operations of all clients per second of wall time, as the engine's benchmark prints it; below 1000, where the "
        "fraction that it cuts off matters, operations / seconds. A background writer's operations are not in it.",
        BENCHMARK,
        "ops_sec",
    ),
    Metric(
        "usec_per_op",
        "us",
        "lower",
        "Time of the clients per operation: with n clients it is n times the time between two operations.",
        BENCHMARK,
        "usec_op",
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
    Metric("mb_per_s", "MiB/s", "higher", "Bytes of keys and values per second of wall time.", BENCHMARK, "mb_sec"),
    Metric("found_pct", "%", None, "Keys found, of those looked up; of one client where there are several.", BENCHMARK),
)

_LATENCY: Mapping[str, tuple[str, str | None]] = {
    "avg_us": ("Mean latency", None),
    "p50_us": ("Median latency", "p50"),
    "p75_us": ("75th percentile of latency", None),
    "p99_us": ("99th percentile of latency", "p99"),
    "p99_9_us": ("99.9th percentile of latency", "p99.9"),
    "p99_99_us": ("99.99th percentile of latency", "p99.99"),
    "max_us": ("Highest latency", "pmax"),
}
_BUCKETS = "; percentiles are interpolated within the histogram's buckets"

_TREE = (
    Metric("lsm_bytes", "B", None, "Size of the live SST files, as the compaction table sums it.", DUMP, "lsm_sz"),
    Metric("lsm_files", "files", None, "Live SST files, as the compaction table sums them.", DUMP),
    Metric("l0_bytes", "B", None, "Size of level 0.", DUMP),
    Metric("l0_files", "files", None, "Files of level 0. Absent when the level was never filled.", DUMP),
    Metric("blob_bytes", "B", None, "Size of the blob files; printed in tenths of a GiB.", DUMP, "blob_sz"),
    Metric("pending_compaction_bytes", "B", "lower", "Compaction debt as RocksDB estimates it (from 9.0).", DUMP),
    Metric("uptime_seconds", "s", None, "How long the database has been open.", DUMP, "uptime"),
)

_WORK = (
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
        "c_wgb",
    ),
    Metric("compaction_read_bytes", "B", None, "Bytes that compactions read.", OPENED),
    Metric("compaction_write_mb_per_s", "MiB/s", None, "compaction_write_bytes over uptime_seconds.", OPENED, "c_mbps"),
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
    Metric("compaction_seconds", "s", None, "Wall time of all flush and compaction jobs together.", OPENED, "c_wsecs"),
    Metric(
        "compaction_cpu_seconds",
        "s",
        None,
        "CPU time of all flush and compaction jobs together, found by the column's name: published summaries read "
        "a neighbour of it from RocksDB 10.3 on.",
        OPENED,
        "c_csecs",
    ),
    Metric("compaction_keys_in", "keys", None, "Keys that compactions read, rounded as RocksDB prints it.", OPENED),
    Metric("compaction_keys_dropped", "keys", None, "Keys that compactions dropped, rounded likewise.", OPENED),
    Metric("blob_read_bytes", "B", None, "Bytes of blobs that compactions read.", OPENED, "b_rgb"),
    Metric("blob_write_bytes", "B", None, "Bytes of blobs that flushes and compactions wrote.", OPENED, "b_wgb"),
    Metric(
        "block_cache_hit_pct",
        "%",
        "higher",
        "Block cache hits, of hits and misses; needs the option `statistics`.",
        OPENED,
    ),
)


def _stall(name: str, what: str) -> Metric:
    return Metric(f"stall_{name}", "count", "lower", what, OPENED)


_STALLS = (
    Metric("stall_pct", "%", "lower", "Time in which writes were delayed or stopped, of the uptime.", OPENED, "stall%"),
    Metric("stall_seconds", "s", "lower", "Time in which writes were delayed or stopped.", OPENED),
    Metric("stalls", "count", "lower", "stall_delays + stall_stops.", OPENED, "Nstall"),
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
)


def _latencies(operation: str = "") -> tuple[Metric, ...]:
    prefix, of = (f"{operation}_", f" of a {operation}, in a benchmark of several kinds") if operation else ("", "")
    return tuple(
        Metric(
            f"{prefix}{name}",
            "us",
            "lower",
            f"{what}{of}{_BUCKETS if name.startswith('p') else ''}.",
            BENCHMARK,
            None if operation else legacy,
        )
        for name, (what, legacy) in _LATENCY.items()
    )


_ANSWERS = (
    Metric(
        "inserts_per_s",
        "rows/s",
        "higher",
        "Rows that all clients of a step inserted per second of wall time, also beside queries that are measured.",
        STEP,
        "ips",
    ),
    Metric(
        "recall",
        "1",
        "higher",
        "Share of the true k nearest neighbours among the k that a search returned, by distance: one at most 0.001 "
        "farther than the k-th true one counts. The mean over queries.",
        STEP,
    ),
)

SECTIONS: Mapping[str, tuple[Metric, ...]] = {
    "Throughput": _THROUGHPUT,
    "Throughput over time": VARIANCE,
    "Inserts and searches": _ANSWERS,
    "Statements": SQL,
    "Sysbench": SYSBENCH,
    "Latency": _latencies(),
    "State of the tree": _TREE,
    "Work of the engine": _WORK,
    "Stalls": _STALLS,
    "Processes": PROCESSES,
    "Host": HOST,
    "Memory and sensors": MEMORY,
    "Device": DEVICE,
    "Quiet": QUIET,
    "Collectors": COLLECTED,
    "Latency by kind of operation": tuple(
        metric for operation in ("read", "write", "delete", "seek", "merge") for metric in _latencies(operation)
    ),
}

METRICS: Mapping[str, Metric] = MappingProxyType(
    {metric.name: metric for section in SECTIONS.values() for metric in section}
)
