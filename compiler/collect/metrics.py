"""Every metric, once: its unit, which way is better, what it is, over which window. docs/metrics.md is made of it.

`python -m compiler.collect.metrics_page > docs/metrics.md`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

BENCHMARK = "the measured benchmark: the first of the step that counts operations"
OPENED = "from when the step opened the database to its last statistics dump (its end, where it lists `stats`)"
END = "at the end of the step"
DUMP = "at the step's last statistics dump (its end, where it lists `stats`)"
STEP = "the step, from its start to its exit"


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    unit: str
    better: Literal["higher", "lower"] | None  # None: depends on what is asked
    definition: str
    window: str
    legacy: str | None = None  # the column of the published db_bench summaries that holds the same


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

_USAGE = (
    Metric("cpu_seconds", "s", None, "User and system time of the step's processes.", STEP),
    Metric(
        "cpu_us_per_op",
        "us/operation",
        "lower",
        "cpu_seconds / operations, background work and a background writer included. Absent where the step also ran "
        "another benchmark that counts operations: the time of both is not to be told apart.",
        STEP,
    ),
    Metric(
        "process_rss_bytes",
        "B",
        None,
        "Highest resident memory of the step's processes, as sampled once a second. Absent in a step that is over "
        "before the second sample.",
        STEP,
        "rss",
    ),
    Metric(
        "process_max_rss_bytes",
        "B",
        None,
        "Highest resident memory of the step's largest process, as the kernel noted it; never below the tens of MiB of "
        "the runner that started it.",
        STEP,
    ),
    Metric("process_read_bytes", "B", None, "Bytes that the step's processes caused to be read from devices.", STEP),
    Metric("process_write_bytes", "B", None, "Bytes that the step's processes caused to be written to devices.", STEP),
    Metric("database_bytes", "B", None, "Size of the files in the database's folder.", END),
    Metric("host_cpu_user_pct", "%", None, "User time (us of vmstat, nice included) of all cores' time.", STEP),
    Metric(
        "host_cpu_system_pct", "%", None, "System time (sy of vmstat, interrupts included) of all cores' time.", STEP
    ),
    Metric("host_cpu_idle_pct", "%", None, "Idle time (id of vmstat) of all cores' time.", STEP),
    Metric("host_cpu_iowait_pct", "%", None, "Time idle with IO under way (wa of vmstat) of all cores' time.", STEP),
    Metric("host_cpu_steal_pct", "%", "lower", "Time that a hypervisor took (st of vmstat) of all cores' time.", STEP),
    Metric("context_switches_per_s", "switches/s", None, "Context switches of the host (cs of vmstat).", STEP),
    Metric(
        "context_switches_per_op",
        "switches/operation",
        "lower",
        "Context switches of the host / operations; absent where cpu_us_per_op is.",
        STEP,
    ),
    Metric("pressure_cpu_pct", "%", "lower", "Time in which some task waited for a core (pressure, some).", STEP),
    Metric("pressure_io_pct", "%", "lower", "Time in which some task waited for IO (pressure, some).", STEP),
)

_RATIO = "mean of the seconds' own ratios, as iostat's average has it; a second without requests has none"
_DEVICE = (
    Metric("device_reads_per_s", "requests/s", None, "Reads that the database's device completed (r/s).", STEP),
    Metric("device_read_mb_per_s", "MiB/s", None, "What the device read (rMB/s).", STEP),
    Metric("device_read_await_ms", "ms", "lower", f"Time of a read, queueing included (r_await); {_RATIO}.", STEP),
    Metric("device_read_request_kb", "KiB", None, f"Size of a read (rareq-sz); {_RATIO}.", STEP),
    Metric("device_writes_per_s", "requests/s", None, "Writes that the database's device completed (w/s).", STEP),
    Metric("device_write_mb_per_s", "MiB/s", None, "What the device wrote (wMB/s).", STEP),
    Metric("device_write_await_ms", "ms", "lower", f"Time of a write, queueing included (w_await); {_RATIO}.", STEP),
    Metric("device_write_request_kb", "KiB", None, f"Size of a write (wareq-sz); {_RATIO}.", STEP),
    Metric("device_queue", "requests", None, "Requests in the device's queue, on average (aqu-sz).", STEP),
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
    "Inserts and searches": _ANSWERS,
    "Latency": _latencies(),
    "State of the tree": _TREE,
    "Work of the engine": _WORK,
    "Stalls": _STALLS,
    "Processes and host": _USAGE,
    "Device": _DEVICE,
    "Latency by kind of operation": tuple(
        metric for operation in ("read", "write", "delete", "seek", "merge") for metric in _latencies(operation)
    ),
}

METRICS: Mapping[str, Metric] = MappingProxyType(
    {metric.name: metric for section in SECTIONS.values() for metric in section}
)
