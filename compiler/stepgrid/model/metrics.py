"""Table of metrics: unit, better direction, definition and time window of each figure.

Drivers and collectors add theirs as a `MetricSet`; stepgrid.plugins.metrics joins them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from msgspec import Struct


class Metric(Struct, frozen=True):
    name: str
    unit: str
    better: Literal["higher", "lower"] | None  # None: depends on the question
    definition: str
    window: str
    legacy: Mapping[str, str] = {}  # published layout -> its column for the same


class MetricSet(Struct, frozen=True):
    """Metrics of one driver or collector."""

    sections: Mapping[str, tuple[Metric, ...]] = {}  # of docs/reference/metrics.md, by title
    # Published layout -> metric -> the column that holds the same figure; its unit, and what is added up, may differ.
    # A column that is computed in another way and has another value (the published scan rates) is no alias.
    published: Mapping[str, Mapping[str, str]] = {}


def columns(pairs: str) -> Mapping[str, str]:
    """Map metrics to columns, as `metric=column metric=column …` says."""
    return dict(pair.split("=") for pair in pairs.split())


# What a metric is, by its unit.

TIME_UNITS = frozenset({"s", "ms", "us", "ns", "min"})
SIZE_UNITS = frozenset({"B", "KiB", "MiB", "GiB"})
_DEVICE = "reads_per_op read_kb_per_op writes_per_op write_kb_per_op reads_per_lookup read_kb_per_lookup "
_OF_INSERTS = "write_kb_per_put writes_per_insert write_kb_per_insert "
_PROCESSORS = "context_switches_per_op host_cpu_us_per_op energy_uj_per_op"
OF_THE_HOST = frozenset((_DEVICE + _OF_INSERTS + _PROCESSORS).split())  # what others did is in them

OWN_CPU = frozenset(("cpu_us_per_op", "client_cpu_us_per_op", "server_cpu_us_per_op"))  # holds: bench/busy_host.py


class Kind(StrEnum):
    RATE = "rate"
    TIME = "time"
    SIZE = "size"
    COUNT = "count"
    SHARE = "share"
    UNKNOWN = "unknown"


def kind(unit: str) -> Kind:
    """Tell what a metric is: `us/operation` is a time, `KiB/operation` a size, `orders/min` a rate."""
    over, _, under = unit.partition("/")
    if under in TIME_UNITS:
        return Kind.RATE
    if over in TIME_UNITS:
        return Kind.TIME
    if over in SIZE_UNITS:
        return Kind.SIZE
    if unit in ("%", "1", "ratio"):
        return Kind.SHARE
    return Kind.COUNT if over.isalpha() and over.islower() else Kind.UNKNOWN


def follows_host(name: str, unit: str, is_same_work: bool) -> bool:
    """Tell whether others who use the host change a metric.

    Rates and times do, and totals of a step that does more where it is faster. Sizes and counts of one operation, and
    ratios of two of them, do not; nor does the CPU time that an operation takes by itself.
    """
    over, _, under = unit.partition("/")
    match kind(unit):
        case _ if name in OF_THE_HOST or name in OWN_CPU:
            return name in OF_THE_HOST
        case Kind.SIZE | Kind.COUNT:
            return not (is_same_work or under)
        case Kind.SHARE:
            return over == "%"
    return True


_PERCENTILE = re.compile(r"(?:(?P<operation>[a-z0-9_]+)_)?p(?P<whole>\d+)(?:_(?P<rest>\d+))?_us")


@lru_cache(4096)  # of the same few names for every step
def percentile(metric: str) -> tuple[str | None, float] | None:
    """p99_9_us -> (None, 99.9), read_p50_us -> ("read", 50); None for a metric that is no percentile."""
    match = _PERCENTILE.fullmatch(metric)
    return (match["operation"], float(f"{match['whole']}.{match['rest'] or 0}")) if match else None


FEWEST_BEYOND = 10  # operations above a percentile: of fewer it is one of the longest times, whichever came


def has_percentile(operations: float, percent: float) -> bool:
    return round(operations * (100 - percent) / 100, 6) >= FEWEST_BEYOND


def too_few_operations(metric: str, runs: Iterable[Mapping[str, float]]) -> str:
    """Say why a percentile of latency is missing, `too few operations (500)`; nothing where it is not that."""
    timed = [run for run in runs if metric not in run and run.keys() & {"avg_us", "p50_us", "max_us"}]
    most, part = max((run.get("operations", 0.0) for run in timed), default=0.0), percentile(metric)
    is_few = most and part and part[0] is None and not has_percentile(most, part[1])
    return f"too few operations ({most:,.0f})" if is_few else ""


VARIATION = "qps_variation_pct"
SLOW = "slow_seconds_pct"  # with less than half of the median QPS
STEADY_QPS, INITIAL = "steady_qps", "initial_qps"
QPS = "qps"  # what is compared unless something else is asked for
CLIENT_CPU, SERVER_CPU = "client_cpu_us_per_op", "server_cpu_us_per_op"

# Windows of time that many metrics share.

STEP = "the step, from its start to its exit"
MEASURED = "the step, without what db_bench opens before and drains after its benchmark"
BENCHMARK = "the measured benchmark: the first of the step that counts operations"
OPENED = (
    "from when the step opened the database to its last statistics dump (its end, where it lists `stats`); of a "
    "server: the step"
)
END = "at the end of the step"
DUMP = "at the step's last statistics dump (its end, where it lists `stats`); of a server: at its end"
SAMPLES = "mean of the samples: of the step, or what of it was measured"
DRAIN_BEGINS = "when the step begins to wait for compactions"
SERIES = "the step's series of QPS, of 5 points or more"
STEADY = "the step's series of QPS, of 60 points or more"

THROUGHPUT = (
    Metric("qps", "operations/s", "higher",
           "Operations of all clients per second of wall time, as the engine's benchmark prints it; below 1000, where "
           "the fraction that it cuts off matters, operations / seconds. A background writer's operations are not in "
           "it.", BENCHMARK),
    Metric("usec_per_op", "us", "lower",
           "Time of the clients per operation: with n clients it is n times the time between two operations.",
           BENCHMARK),
    Metric("qps_per_client", "operations/s", "higher", "A second / usec_per_op: QPS of each client.", BENCHMARK),
    Metric("seconds", "s", None,
           "Wall time of the benchmark, without opening the database. Before RocksDB 7.3 it is not printed: operations "
           "/ qps.", BENCHMARK),
    Metric("operations", "operations", None,
           "Operations of all clients. Before RocksDB 7.3 they are not printed: the count of the latency histogram, "
           "where a sample is one operation.", BENCHMARK),
    Metric("mb_per_s", "MiB/s", "higher", "Bytes of keys and values per second of wall time.", BENCHMARK),
    Metric("found_pct", "%", None, "Keys found, of those looked up; of one client where there are several.", BENCHMARK),
    Metric("found_expected_pct", "%", None,
           "Keys that the lookups should find at least, of those that the steps before them loaded; where that is "
           "known.", BENCHMARK),
    Metric("writer_qps", "operations/s", None,
           "Operations per second of the background writer of a benchmark that reads while another thread writes, as "
           "that thread says, or the keys written over the seconds. The series of QPS over time has them in it.",
           BENCHMARK),
    *(Metric(f"{operation}_per_s", "operations/s", "higher",
             f"That part of qps which is {operation}, of a benchmark that mixes operations (mixgraph); the share is of "
             "one client where there are several.", BENCHMARK) for operation in ("gets", "puts", "seeks")),
    Metric("put_value_bytes", "B", None, "Mean size of the values that mixgraph put; before "
           "RocksDB 7.1 by the engine's counters of bytes and keys.", BENCHMARK),
    Metric("scan_keys", "keys", None, "Mean length of the scans of mixgraph; before RocksDB 7.1 by the "
           "engine's counters of seeks and nexts.", BENCHMARK),
)  # fmt: skip

ANSWERS = (
    Metric("inserts_per_s", "rows/s", "higher",
           "Rows that all clients of a step inserted per second of wall time, also beside queries that are measured. "
           "Of a step that makes indexes, as l.x does, all rows of the tables per second of inserting and indexing.",
           STEP),
    Metric("target_met", "1", "higher",
           "1: the clients sustained the rate that they were asked for (as inserts_per_s of target_inserts_per_s): at "
           "least 95 % of it, both rounded to whole operations. 0: the step failed its rate. Absent where there was no "
           "target.", STEP),
    Metric("target_qps", "operations/s", None,
           "The rate that all clients together were asked for: the operations that were to begin, over the duration.",
           STEP),
    Metric("backlog", "operations", "lower",
           "Operations of a step with a rate that were due and never begun, although its clients went on for a "
           "twentieth of the duration. Where there are any, no latency is given: it would say how long the step was.",
           STEP),
    *(Metric(f"service_{name}_us", "us", "lower",
             f"As {name}_us, of a step with a rate, from when an operation was sent, without its wait for a client: "
             "what a closed loop calls latency.", STEP)
      for name in ("avg", "p50", "p75", "p95", "p99", "p99_9", "p99_99", "max")),
    Metric("over_limit_pct", "%", "lower",
           "Share of the seconds in which an operation was under way for longer than `latency_limit`; with a rate, "
           "from when it was due.", STEP),
    Metric("tried_value", "of the setting", None,
           "The value that was chosen when the step ran, by a search on an axis (docs/guides/search.md) or as a "
           "share of another step's rate: of a rate in bytes per second.", STEP),
    Metric("tried_share_pct", "%", None,
           "The share that this is of what another step of its stage has reached without a rate.", STEP),
    Metric("tried_holds", "1", None,
           "1: the condition of a search on an axis held at the value that was tried. 0: it did not.", STEP),
    Metric("recall", "1", "higher",
           "Share of the true k nearest neighbours among the k that a search returned, by distance: one at most 0.001 "
           "farther than the k-th true one counts. The mean over queries.", STEP),
)  # fmt: skip

VARIANCE = (
    Metric(VARIATION, "%", "lower",
           "Standard deviation of the seconds' QPS, of their mean: the coefficient of variation.", SERIES),
    Metric(SLOW, "%", "lower", "Share of the seconds with less than half of the median QPS.", SERIES),
    Metric("stalled_seconds_pct", "%", "lower",
           "Share of the seconds with less than a tenth of the median QPS: all but a standstill.", SERIES),
    Metric("worst_qps_p99", "operations/s", "higher",
           "QPS that 99 % of the seconds reach: a rate, not a latency. The insert benchmark calls it p99.", SERIES),
    *(Metric(f"{operation}_stalled_pct", "%", "lower",
             f"Share of the clients' seconds that are stalls: the client {verb} nothing, or less than a tenth of what "
             "it did in its median second. Seconds after its last operation are none.",
             "the clients' rates by the second, where clients report one by one")
      for operation, verb in (("insert", "inserted"), ("delete", "deleted"), ("query", "asked"))),
    Metric("steady_from_s", "s", "lower",
           "When the steady part begins, since the step's start: the first of 30 windows from which QPS neither rises "
           "nor falls. Ten windows or more follow. Absent where there is no steady state.", STEADY),
    Metric(STEADY_QPS, "operations/s", "higher", "Mean QPS from steady_from_s on.", STEADY),
    Metric("steady_change_pct", "%", None,
           "By how much QPS changes over that part, along a straight line; without a steady state, over the last "
           "third.", STEADY),
    Metric(INITIAL, "operations/s", None,
           "Mean QPS of the first of 30 windows of a step with `until: steady`: what a short run would have said.",
           STEADY),
)  # fmt: skip

_BESIDE = "the series of the step that it ran beside"

BESIDE = (
    Metric("beside_seconds", "s", "lower",
           "Wall time of a step that ran beside another one; of several rounds the median. None where it was stopped.",
           "the step's own program"),
    Metric("beside_rounds", "rounds", None, "Rounds of a step that ran every so many seconds.", "the step beside it"),
    Metric("main_qps_ratio", "ratio", "higher",
           "QPS of the step that it ran beside: while it ran / before it began, in whole seconds in which the same "
           "others ran beside that. Its first interval does not count. 0.82: it cost 18 % of the QPS.", _BESIDE),
    Metric("main_qps_after_ratio", "ratio", "higher", "The same, after it had ended / before it began.", _BESIDE),
    Metric("main_qps_before", "operations/s", "higher", "Mean QPS of that step before it began.", _BESIDE),
    Metric("main_qps_during", "operations/s", "higher", "Mean QPS of that step while it ran.", _BESIDE),
    Metric("main_qps_after", "operations/s", "higher", "Mean QPS of that step after it had ended.", _BESIDE),
    Metric("main_p99_ratio", "ratio", "lower",
           "Median of the seconds' 99th percentile of latency of that step: while it ran / before it began. Absent "
           "where that had seconds with fewer than 1,000 operations: they have none.", _BESIDE),
    Metric("main_p99_after_ratio", "ratio", "lower", "The same, after it had ended / before it began.", _BESIDE),
    Metric("main_recovery_seconds", "s", "lower",
           "Time from its end until the QPS of that step, the mean of 3 intervals, was back at 95 % of what it was "
           "before. Absent where it did not come back, or not before others began or ended.", _BESIDE),
)  # fmt: skip

_LATENCIES: Mapping[str, str] = {
    "avg_us": "Mean latency",
    "p50_us": "Median latency",
    "p75_us": "75th percentile of latency",
    "p99_us": "99th percentile of latency",
    "p99_9_us": "99.9th percentile of latency",
    "p99_99_us": "99.99th percentile of latency",
    "max_us": "Highest latency",
}


def _latencies(prefix: str = "", detail: str = "") -> tuple[Metric, ...]:
    buckets = "; percentiles are interpolated within the histogram's buckets"
    return tuple(
        Metric(prefix + name, "us", "lower", f"{text}{detail}{buckets if name.startswith('p') else ''}.", BENCHMARK)
        for name, text in _LATENCIES.items()
    )


LATENCY = _latencies()
LATENCY_BY_OPERATION = tuple(
    metric
    for operation in ("read", "write", "delete", "seek", "merge")
    for metric in _latencies(f"{operation}_", f" of a {operation}, in a benchmark of several kinds")
)

WORK = (
    Metric("ingest_bytes", "B", None,
           "Bytes of the write batches that clients wrote. Printed to a hundredth of a GiB; where the output says the "
           "same more precisely (its rate and the uptime, MiB of the first interval, the compaction table, "
           "`statistics`), and both agree, that: likewise the other volumes.", OPENED),
    Metric("keys_written", "keys", None,
           "Keys that clients wrote. Rounded down as RocksDB prints it (10K may be 10,999), where neither `statistics` "
           "nor its count of writes to the log, of which none was synced, has it to the last.", OPENED),
    Metric("added_file_bytes", "B", None, "Bytes of files that were added as they are.", OPENED),
    Metric("wal_bytes", "B", None, "Bytes written to the write-ahead log.", OPENED),
    Metric("flush_bytes", "B", None,
           "Bytes of SST files that flushes wrote; a part of compaction_write_bytes.", OPENED),
    Metric("compaction_write_bytes", "B", None, "Bytes of SST files that flushes and compactions wrote.", OPENED),
    Metric("compaction_read_bytes", "B", None, "Bytes that compactions read.", OPENED),
    Metric("compaction_write_mb_per_s", "MiB/s", None, "compaction_write_bytes over uptime_seconds.", OPENED),
    Metric("write_amplification", "ratio", "lower",
           "compaction_write_bytes / ingest_bytes, without the log. What earlier steps left to flush and compact is in "
           "it; what its own memtables still hold is not, so a short load is below 1. Published summaries (w_amp) add "
           "the flushed bytes once more. Absent when nothing was ingested.", OPENED),
    Metric("write_amplification_published", "ratio", "lower",
           "(compaction_write_bytes + flush_bytes) / ingest_bytes, as published summaries have it: what was flushed "
           "counts twice, so that a load without compaction has 2. For comparison with those, and nothing else.",
           OPENED),
    Metric("drain_seconds", "s", "lower",
           "Time of the flushes and compactions that a step awaits behind its benchmark, up to its statistics. The 5 s "
           "that db_bench sleeps before it looks at compactions, and the 10 s between two looks up to 8.6, are in it. "
           "Averages of the step are without that time.",
           "from the end of the measured benchmark to the step's last statistics dump"),
    Metric("drain_l0_files", "files", "lower",
           "Files of level 0 when the drain began, what was in memory flushed: the debt that the benchmark left there. "
           "Debt in the levels below is not in it. Needs `levelstats` between the benchmark and the wait.",
           DRAIN_BEGINS),
    Metric("drain_l0_bytes", "B", "lower", "Size of these files; printed in MiB.", DRAIN_BEGINS),
    Metric("compactions", "jobs", None, "Flushes and compactions done.", OPENED),
    Metric("compaction_seconds", "s", None, "Wall time of all flush and compaction jobs together.", OPENED),
    Metric("compaction_cpu_seconds", "s", None,
           "CPU time of all flush and compaction jobs together, found by the column's name: published summaries read a "
           "neighbour of it from RocksDB 10.3 on.", OPENED),
    Metric("compaction_keys_in", "keys", None, "Keys that compactions read, rounded as RocksDB prints it.", OPENED),
    Metric("compaction_keys_dropped", "keys", None, "Keys that compactions dropped, rounded likewise.", OPENED),
    Metric("blob_read_bytes", "B", None, "Bytes of blobs that compactions read.", OPENED),
    Metric("blob_write_bytes", "B", None, "Bytes of blobs that flushes and compactions wrote.", OPENED),
    Metric("block_cache_hit_pct", "%", "higher",
           "Block cache hits, of hits and misses; needs the option `statistics`.", OPENED),
)  # fmt: skip

SIZES = (
    Metric("database_bytes", "B", None, "Size of the files in the database's folder.", END),
    Metric("tables_bytes", "B", None,
           "Size of the tables and their indexes, without the server's logs and other databases: of published results.",
           END),
    Metric("data_bytes", "B", None, "Size of the tables' data, as the server tells it.", END),
    Metric("index_bytes", "B", None,
           "Size of the tables' indexes, as the server tells it: of InnoDB and MyRocks the secondary ones, since the "
           "primary key's has the data; of PostgreSQL all.", END),
)  # fmt: skip

_STALL_COUNTS: Mapping[str, str] = {
    "stall_delays": "Delays of every cause: level 0, memtables, compaction debt.",
    "stall_stops": "Stops of every cause: level 0, memtables, compaction debt.",
    "stall_l0_delays": "Delays because of many level 0 files (before 8.1: level0_slowdown).",
    "stall_l0_stops": "Stops because of too many level 0 files (before 8.1: level0_numfiles).",
    "stall_l0_compacting_delays": "Those of stall_l0_delays that met a compaction of level 0 at work.",
    "stall_l0_compacting_stops": "Those of stall_l0_stops that met a compaction of level 0 at work.",
    "stall_memtable_delays": "Delays because of many memtables (before 8.1: memtable_slowdown).",
    "stall_memtable_stops": "Stops because of too many memtables (before 8.1: memtable_compaction).",
    "stall_pending_delays": "Delays because of compaction debt.",
    "stall_pending_stops": "Stops because of compaction debt.",
    "stall_write_buffer_manager_stops": "Stops by the write buffer manager, of the whole database (from 8.1).",
}

STALLS = (
    Metric("stall_pct", "%", "lower",
           "Time in which writes were delayed or stopped, of the uptime; of a step that awaits a drain behind its "
           "benchmark, of the benchmark's time.", OPENED),
    Metric("stall_pct_published", "%", "lower",
           "The same of such a step as published summaries have it: of the uptime, and so of the drain too. For "
           "comparison with those, and nothing else.", OPENED),
    Metric("stall_seconds", "s", "lower", "Time in which writes were delayed or stopped.", OPENED),
    Metric("stalls", "count", "lower", "stall_delays + stall_stops.", OPENED),
    *(Metric(name, "count", "lower", definition, OPENED) for name, definition in _STALL_COUNTS.items()),
)  # fmt: skip

TREE = (
    Metric("lsm_bytes", "B", None, "Size of the live SST files, as the compaction table sums it.", DUMP),
    Metric("lsm_files", "files", None, "Live SST files, as the compaction table sums them.", DUMP),
    Metric("l0_bytes", "B", None, "Size of level 0.", DUMP),
    Metric("l0_files", "files", None, "Files of level 0. Absent when the level was never filled.", DUMP),
    Metric("blob_bytes", "B", None, "Size of the blob files; printed in tenths of a GiB.", DUMP),
    Metric("pending_compaction_bytes", "B", "lower", "Compaction debt as RocksDB estimates it (from 9.0).", DUMP),
    Metric("memtable_bytes", "B", None,
           "Memory of all memtables; of db_bench it needs the benchmark `memstats`.", DUMP),
    Metric("block_cache_bytes", "B", None, "What the block cache holds (from RocksDB 7.7).", DUMP),
    Metric("block_cache_capacity_bytes", "B", None, "What the block cache may hold (from RocksDB 6.22).", DUMP),
    Metric("uptime_seconds", "s", None, "How long the database has been open.", DUMP),
)  # fmt: skip

PROCESSES = (
    Metric("cpu_seconds", "s", None,
           "User and system time of the step's processes; with a server, of client and server together.", MEASURED),
    Metric("client_cpu_seconds", "s", None, "The client's part of cpu_seconds, where there is a server.", MEASURED),
    Metric("server_cpu_seconds", "s", None,
           "The server's part of cpu_seconds: all processes that it started.", MEASURED),
    Metric("process_cores", "cores", None, "Cores that the step's processes kept busy, as sampled.", MEASURED),
    Metric("server_cores", "cores", None, "Cores that the server's processes kept busy, as sampled.", MEASURED),
    Metric("process_rss_bytes", "B", None,
           "Highest resident memory of the step's processes, as sampled once a second. The first sample, of programs "
           "that begin, and the last one, of programs that have ended, do not count.", STEP),
    Metric("process_max_rss_bytes", "B", None,
           "Highest resident memory of the step's largest process, as the kernel noted it; never below the tens of MiB "
           "of the runner that started it.", STEP),
    Metric("process_read_bytes", "B", None,
           "Bytes that the step's processes caused to be read from devices.", MEASURED),
    Metric("process_write_bytes", "B", None,
           "Bytes that the step's processes caused to be written to devices.", MEASURED),
    Metric("server_rss_bytes", "B", None,
           "Highest resident memory of the server's processes, as sampled; memory that several of them share counts in "
           "each.", STEP),
    Metric("server_virtual_bytes", "B", None,
           "Highest address space of the server's process, used or not: of published results.", STEP),
    Metric("server_read_bytes", "B", None, "Bytes that the server caused to be read from devices.", MEASURED),
    Metric("server_write_bytes", "B", None, "Bytes that the server caused to be written to devices.", MEASURED),
    Metric("drain_cpu_seconds", "s", "lower",
           "User and system time of the step's processes after its measured benchmark.",
           "from the end of the measured benchmark to the step's exit"),
    Metric("drain_write_bytes", "B", None,
           "Bytes that the step's processes caused to be written to devices after its measured benchmark.",
           "from the end of the measured benchmark to the step's exit"),
)  # fmt: skip

PER_OPERATION = (
    Metric("cpu_us_per_op", "us/operation", "lower",
           "cpu_seconds / operations, background work and a background writer included. Absent where the step also ran "
           "another benchmark that counts operations: the time of both is not to be told apart.", MEASURED),
    Metric("client_cpu_us_per_op", "us/operation", "lower", "client_cpu_seconds / operations.", MEASURED),
    Metric("server_cpu_us_per_op", "us/operation", "lower", "server_cpu_seconds / operations.", MEASURED),
    Metric("run_delay_us_per_op", "us/operation", "lower",
           "Time that threads of client and server were ready to run and waited for a processor (schedstat) / "
           "operations, as that of the others below: of threads that worked, by the CPU that they took. Absent where "
           "the kernel does not count it.", MEASURED),
    *(Metric(f"{name}_wait_us_per_op", "us/operation", "lower",
             f"Time that threads slept {meaning} / operations, as some looks a second met them.", MEASURED)
      for name, meaning in (
          ("disk", "for a disk: in uninterruptible sleep, or in a function of the kernel that waits for one"),
          ("lock", "in a futex or a semaphore: for another thread"),
          ("timer", "by their own wish: nanosleep and its like"),
          ("peer", "in sockets, pipes or poll: for another process. Absent of client and server, which wait so for "
                   "each other"),
          ("other", "elsewhere in the kernel"))),
    Metric("page_faults_per_op", "faults/operation", "lower",
           "Page faults of client and server, those that read a disk included / operations.", MEASURED),
    Metric("context_switches_per_op", "switches/operation", "lower",
           "Context switches of the host / operations; absent where cpu_us_per_op is.", MEASURED),
    Metric("host_cpu_us_per_op", "us/operation", "lower",
           "User and system time of the whole host / operations, by vmstat's percentages. The published cpu/o is "
           "percentages of an unnamed number of cores instead.", MEASURED),
    Metric("energy_uj_per_op", "uJ/operation", "lower",
           "Energy of the processors (RAPL, all packages, idle ones too) / operations; absent likewise, and where the "
           "host has no RAPL or only root may read it.", MEASURED),
    Metric("cost_per_m_ops", "price/million operations", "lower",
           "Price of the hardware / 3600 / qps * 1,000,000, in the currency of its `price`, which is per hour.",
           BENCHMARK),
    Metric("reads_per_op", "requests/operation", "lower",
           "Reads that the database's device completed / operations; absent where cpu_us_per_op is.", MEASURED),
    Metric("read_kb_per_op", "KiB/operation", "lower", "What the device read / operations; absent likewise.", MEASURED),
    Metric("writes_per_op", "requests/operation", "lower",
           "Writes that the database's device completed / operations; absent likewise.", MEASURED),
    Metric("write_kb_per_op", "KiB/operation", "lower",
           "What the device wrote / operations; absent likewise.", MEASURED),
    Metric("reads_per_lookup", "requests/operation", "lower", "Reads of the device / (gets + seeks).", MEASURED),
    Metric("read_kb_per_lookup", "KiB/operation", "lower", "What the device read / (gets + seeks).", MEASURED),
    Metric("write_kb_per_put", "KiB/operation", "lower", "What the device wrote / puts.", MEASURED),
    Metric("rows_read_per_op", "rows/operation", "lower",
           "Rows that the server read from its tables / operations: Handler_read_* of mysqld and mariadbd, "
           "seq_tup_read and idx_tup_read of PostgreSQL's user tables. Our own readings scan the catalog, which "
           "is not counted.", STEP),
    Metric("rows_found_per_op", "rows/operation", "lower",
           "Rows that the server found / operations: Rows_read of MariaDB, Innodb_rows_read and Rocksdb_rows_read of "
           "MySQL, of PostgreSQL as in rows_read_per_op. A lookup of a missing key finds none. Absent where the server "
           "counted less than a lookup for two operations.", STEP),
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

GARBAGE = (
    Metric("dead_rows", "rows", "lower",
           "Rows that were deleted or updated and that no vacuum has removed yet: n_dead_tup of pg_stat_user_tables, "
           "an estimate of PostgreSQL's own.", END),
    Metric("history_list_length", "transactions", "lower",
           "InnoDB's history list: transactions whose old row versions purge has not removed. Absent where no table is "
           "InnoDB's.", END),
    Metric("tombstones", "entries", "lower",
           "Deletes and single deletes in the files of all tables of MyRocks: a scan has to skip them until a "
           "compaction drops them. Those in memtables are not in it.", END),
    Metric("bloat_bytes", "B", "lower",
           "Bytes of the tables that hold no live row. InnoDB: free extents of the files (DATA_FREE). PostgreSQL: what "
           "the tables without their indexes are larger than live rows x their mean width by pg_stats; absent until "
           "all of them were analyzed.", END),
)  # fmt: skip

HOST = (
    Metric("host_cpu_user_pct", "%", None, "User time (us of vmstat, nice included) of all cores' time.", MEASURED),
    Metric("host_cpu_system_pct", "%", None,
           "System time (sy of vmstat, interrupts included) of all cores' time.", MEASURED),
    Metric("host_cpu_busy_pct", "%", None,
           "User and system time together: of published results that do not tell them apart.", MEASURED),
    Metric("host_cpu_idle_pct", "%", None, "Idle time (id of vmstat) of all cores' time.", MEASURED),
    Metric("host_cpu_iowait_pct", "%", None,
           "Time idle with IO under way (wa of vmstat) of all cores' time.", MEASURED),
    Metric("host_cpu_steal_pct", "%", "lower",
           "Time that a hypervisor took (st of vmstat) of all cores' time.", MEASURED),
    Metric("context_switches_per_s", "switches/s", None, "Context switches of the host (cs of vmstat).", MEASURED),
    Metric("interrupts_per_s", "interrupts/s", None, "Interrupts of the host (in of vmstat).", MEASURED),
    Metric("run_queue", "tasks", None,
           "Tasks that run or wait for a core (r of vmstat), without the one that looks.", SAMPLES),
    Metric("blocked_tasks", "tasks", "lower", "Tasks that wait for IO uninterruptibly (b of vmstat).", SAMPLES),
    Metric("host_read_mb_per_s", "MiB/s", None, "What all block devices read (bi of vmstat).", MEASURED),
    Metric("host_write_mb_per_s", "MiB/s", None, "What all block devices wrote (bo of vmstat).", MEASURED),
    Metric("pressure_cpu_pct", "%", "lower", "Time in which some task waited for a core (pressure, some).", MEASURED),
    Metric("pressure_io_pct", "%", "lower", "Time in which some task waited for IO (pressure, some).", MEASURED),
    Metric("pressure_memory_pct", "%", "lower",
           "Time in which some task waited for memory (pressure, some).", MEASURED),
)  # fmt: skip

_RATIO = "mean of the seconds' own ratios, as iostat's average has it; a second without requests has none"

DEVICE = (
    Metric("device_reads_per_s", "requests/s", None, "Reads that the database's device completed (r/s).", MEASURED),
    Metric("device_read_mb_per_s", "MiB/s", None, "What the device read, in MiB as iostat's rMB/s is.", MEASURED),
    Metric("device_read_await_ms", "ms", "lower", f"Time of a read, queueing included (r_await); {_RATIO}.", MEASURED),
    Metric("device_read_request_kb", "KiB", None, f"Size of a read (rareq-sz); {_RATIO}.", MEASURED),
    Metric("device_writes_per_s", "requests/s", None, "Writes that the database's device completed (w/s).", MEASURED),
    Metric("device_write_mb_per_s", "MiB/s", None, "What the device wrote, in MiB as iostat's wMB/s is.", MEASURED),
    Metric("device_write_await_ms", "ms", "lower",
           f"Time of a write, queueing included (w_await); {_RATIO}.", MEASURED),
    Metric("device_write_request_kb", "KiB", None, f"Size of a write (wareq-sz); {_RATIO}.", MEASURED),
    Metric("device_queue", "requests", None, "Requests in the device's queue, on average (aqu-sz).", MEASURED),
    Metric("device_busy_pct", "%", None, "Time in which the device had requests (%util).", MEASURED),
    Metric("device_read_merges_per_s", "requests/s", None, "Reads that were merged into others (rrqm/s).", MEASURED),
    Metric("device_write_merges_per_s", "requests/s", None, "Writes that were merged into others (wrqm/s).", MEASURED),
    Metric("device_discards_per_s", "requests/s", None, "Discards that the device completed (d/s).", MEASURED),
    Metric("device_discard_mb_per_s", "MiB/s", None, "What was discarded (dMB/s).", MEASURED),
    Metric("device_discard_await_ms", "ms", "lower", f"Time of a discard (d_await); {_RATIO}.", MEASURED),
    Metric("device_flushes_per_s", "requests/s", None, "Flushes that the device completed (f/s).", MEASURED),
    Metric("device_flush_await_ms", "ms", "lower", f"Time of a flush (f_await); {_RATIO}.", MEASURED),
)  # fmt: skip

MEMORY = (
    Metric("memory_free_bytes", "B", None, "Unused memory (free of vmstat).", SAMPLES),
    Metric("memory_available_bytes", "B", None, "Memory that programs can have without swapping.", SAMPLES),
    Metric("memory_buffer_bytes", "B", None, "Memory of buffers (buff of vmstat).", SAMPLES),
    Metric("memory_cache_bytes", "B", None,
           "Page cache and what the kernel can reclaim of its own (cache of vmstat).", SAMPLES),
    Metric("memory_dirty_bytes", "B", None, "What is to be written to devices some day.", SAMPLES),
    Metric("swap_used_bytes", "B", "lower", "Swap in use (swpd of vmstat).", SAMPLES),
    Metric("swap_in_mb_per_s", "MiB/s", "lower", "What came back from swap (si of vmstat).", MEASURED),
    Metric("swap_out_mb_per_s", "MiB/s", "lower", "What went to swap (so of vmstat).", MEASURED),
    Metric("cpu_mhz", "MHz", None, "Frequency of the processors, the mean of all, every 5 seconds.", SAMPLES),
    Metric("power_watts", "W", "lower",
           "Power of the processors (RAPL, all packages); absent where energy_uj_per_op is.", MEASURED),
    Metric("cpu_celsius_max", "degrees Celsius", "lower",
           "Highest temperature of the processors, as looked at every 5 seconds.", STEP),
    Metric("cpu_celsius", "degrees Celsius", "lower", "Temperature of the hottest processor; per second only.", STEP),
    Metric("cpu_throttles", "count", "lower", "How often a core or a package was slowed because it was hot.", STEP),
)  # fmt: skip


# Titles without metrics keep a place on the page for those of plug-ins.
CORE_SECTIONS: Mapping[str, tuple[Metric, ...]] = {
    "Throughput": THROUGHPUT,
    "Throughput over time": VARIANCE,
    "Work beside work": BESIDE,
    "Inserts and searches": ANSWERS,
    "Statements": (),
    "Sysbench": (),
    "Latency": LATENCY,
    "State of the tree": TREE,
    "Work of the engine": WORK,
    "Stalls": STALLS,
    "Processes": PROCESSES,
    "Cost of an operation": PER_OPERATION,
    "Sizes": SIZES,
    "Garbage": GARBAGE,
    "Host": HOST,
    "Memory and sensors": MEMORY,
    "Device": DEVICE,
    "Quiet": (),
    "Collectors": (),
    "Latency by kind of operation": LATENCY_BY_OPERATION,
}
CORE_METRICS = frozenset(metric.name for section in CORE_SECTIONS.values() for metric in section)
