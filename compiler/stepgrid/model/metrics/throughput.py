"""Metrics of what the clients of a step got done."""

from __future__ import annotations

from stepgrid.model.metrics.metric import BENCHMARK, STEP, Metric

THROUGHPUT = (
    Metric("qps", "operations/s", "higher",
           "Operations of all clients per second of wall time, as the engine's benchmark prints it; below 1000, "
           "where the fraction that it cuts off matters, operations / seconds. A background writer's operations are "
           "not in it.", BENCHMARK),
    Metric("usec_per_op", "us", "lower",
           "Time of the clients per operation: with n clients it is n times the time between two operations.",
           BENCHMARK),
    Metric("seconds", "s", None,
           "Wall time of the benchmark, without opening the database. Before RocksDB 7.3 it is not printed: "
           "operations / qps.", BENCHMARK),
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
    *(
        Metric(
            f"{operation}_per_s",
            "operations/s",
            "higher",
            f"That part of qps which is {operation}, of a benchmark that mixes operations (mixgraph); the share is of "
            "one client where there are several.",
            BENCHMARK,
        )
        for operation in ("gets", "puts", "seeks")
    ),
    Metric("put_value_bytes", "B", None, "Mean size of the values that mixgraph put (from RocksDB 7.1).", BENCHMARK),
    Metric("scan_keys", "keys", None, "Mean length of the scans of mixgraph (from RocksDB 7.1).", BENCHMARK),
)  # fmt: skip


# Metrics of inserts and of searches, whatever asked for them.

ANSWERS = (
    Metric("inserts_per_s", "rows/s", "higher",
           "Rows that all clients of a step inserted per second of wall time, also beside queries that are measured.",
           STEP),
    Metric("target_met", "1", "higher",
           "1: the clients sustained the rate that they were asked for (as inserts_per_s of target_inserts_per_s): "
           "at least 95 % of it, both rounded to whole operations. 0: the step failed its rate. Absent where there was "
           "no target.", STEP),
    Metric("tried_value", "of the setting", None,
           "The value that a search on an axis tried: of a rate in bytes per second (docs/search.md).", STEP),
    Metric("tried_holds", "1", None,
           "1: the condition of a search on an axis held at the value that was tried. 0: it did not.", STEP),
    Metric("recall", "1", "higher",
           "Share of the true k nearest neighbours among the k that a search returned, by distance: one at most "
           "0.001 farther than the k-th true one counts. The mean over queries.", STEP),
)  # fmt: skip


SERIES = "the step's series of QPS, of 5 points or more"
STEADY = "the step's series of QPS, of 60 points or more"

VARIANCE = (
    Metric("qps_variation_pct", "%", "lower",
           "Standard deviation of the seconds' QPS, of their mean: the coefficient of variation.", SERIES),
    Metric("slow_seconds_pct", "%", "lower", "Share of the seconds with less than half of the median QPS.", SERIES),
    Metric("stalled_seconds_pct", "%", "lower",
           "Share of the seconds with less than a tenth of the median QPS: all but a standstill.", SERIES),
    Metric("worst_qps_p99", "operations/s", "higher",
           "QPS that 99 % of the seconds reach: a rate, not a latency. The insert benchmark calls it p99.", SERIES),
    *(
        Metric(
            f"{operation}_stalled_pct",
            "%",
            "lower",
            f"Share of the clients' seconds that are stalls: the client {did} nothing, or less than a tenth of what it "
            "did in its median second. Seconds after its last operation are none.",
            "the clients' rates by the second, where clients report one by one",
        )
        for operation, did in (("insert", "inserted"), ("delete", "deleted"), ("query", "asked"))
    ),
    Metric("steady_from_s", "s", "lower",
           "When the steady part begins, since the step's start: of the starts within the first half, the one whose "
           "mean is known best (MSER-5). Absent where there is no steady state.", STEADY),
    Metric("steady_qps", "operations/s", "higher", "Mean QPS from steady_from_s on.", STEADY),
    Metric("steady_change_pct", "%", None,
           "By how much QPS changes after that start, along a straight line. More than 5 % either way, and clearer "
           "than chance (1 %), is no steady state.", STEADY),
)  # fmt: skip
