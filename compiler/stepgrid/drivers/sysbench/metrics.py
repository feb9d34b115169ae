"""The metrics of steps of kind sysbench that no other kind has."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric, MetricSet, columns

RUN = "the run, without its warmup"

SYSBENCH = (
    Metric("transactions_per_s", "transactions/s", "higher", "Transactions of all clients per second.", RUN),
    Metric("target_transactions_per_s", "transactions/s", None,
           "The rate of transactions that all clients together were asked for. They begin at random times; latency "
           "counts from then, also while they wait for a client.", RUN),
    Metric("transactions", "transactions", None, "Transactions of all clients; of most workloads one statement.", RUN),
    Metric("read_queries", "queries", None, "Queries that answer with rows, or could.", RUN),
    Metric("write_queries", "queries", None, "Statements that changed a row.", RUN),
    Metric("other_queries", "queries", None, "BEGIN, COMMIT, and statements that found nothing to change.", RUN),
    Metric("min_us", "us", None, "Lowest latency, of whole transactions.", RUN),
    Metric("p95_us", "us", "lower", "95th percentile of latency, of whole transactions.", RUN),
    Metric("insert_seconds", "s", "lower",
           "Time of the inserts of a load, of the client that took longest; the clients begin together.", RUN),
    Metric("index_seconds", "s", "lower",
           "Time of a load for the indexes that are made when the rows are there, of the client that took longest.",
           RUN),
    Metric("ignored_errors", "errors", "lower", "Errors after which a transaction was tried again.", RUN),
    Metric("reconnects", "reconnects", "lower", "Connections that were lost and made again.", RUN),
    Metric("rows_per_s", "rows/s", "higher",
           "Rows that scans of a whole table read per second, of all clients together: scans (qps) times the rows "
           "that a table was loaded with. Published figures of a scan are made by three other definitions "
           "(docs/legacy.md).", RUN),
    Metric("scan_rate", "1", "higher",
           "The published figure of a scan as it stands, where it is not known by which of its three definitions it "
           "was made: good for ratios within one table, and for nothing else.", RUN),
)  # fmt: skip

PUBLISHED = {
    "sysbench": columns(
        """
        qps=o/s transactions_per_s=trx avg_us=rtavg max_us=rtmax p95_us=rt95 device_reads_per_s=r/s
        device_read_mb_per_s=rMB/s device_writes_per_s=w/s device_write_mb_per_s=wMB/s reads_per_op=r/o
        read_kb_per_op=rKB/o write_kb_per_op=wKB/o context_switches_per_s=cs/s context_switches_per_op=cs/o
        host_cpu_us_per_op=cpu/o
        """
    )
}

OWN = MetricSet({"Sysbench": SYSBENCH}, PUBLISHED)
