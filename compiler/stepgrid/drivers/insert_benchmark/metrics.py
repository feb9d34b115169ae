"""The metrics of steps of kind insert_benchmark that no other kind has."""

from __future__ import annotations

from stepgrid.model.metrics.metric import STEP, Metric, MetricSet, columns

INSERT_BENCHMARK = (
    Metric("target_inserts_per_s", "rows/s", None,
           "Rows per second that all clients together were to insert beside their queries: a step that inserted "
           "less than 95 % of them failed its rate.", STEP),
    Metric("deletes_per_s", "rows/s", None, "Rows that all clients deleted per second of wall time.", STEP),
    Metric("median_qps", "operations/s", "higher",
           "QPS that half of the seconds reach: a rate, not a latency; rows/s where a step only inserts. "
           "Published tables call it p50, and have it of the first client alone.", STEP),
    Metric("min_id_probe_seconds", "s", "lower",
           "Time of the first query for the table's smallest id, when the step begins: what deleted rows cost "
           "that are not gone yet.", STEP),
    Metric("max_insert_seconds", "s", "lower",
           "Longest time of an insert statement of any client. Published tables call it maxop; where a step "
           "queries, they have the longest query there.", STEP),
    Metric("max_delete_seconds", "s", "lower", "Longest time of a delete statement of any client.", STEP),
    Metric("max_query_seconds", "s", "lower", "Longest time of a query of any client.", STEP),
    Metric("median_inserts_per_s", "rows/s", "higher",
           "Rate of inserts that half of the intervals reach: a rate, not a latency.", STEP),
    Metric("worst_inserts_per_s_p99", "rows/s", "higher",
           "Rate of inserts that 99 % of the intervals reach: a rate, not a latency.", STEP),
    Metric("insert_shortfall_pct", "%", "lower",
           "By how much the rate of inserts was below target_inserts_per_s, over the whole step; 0 where it was "
           "reached.", STEP),
    Metric("lengthened_seconds", "s", "lower",
           "By how much a step took longer than its `duration`: one that ends when its rows are in, and missed its "
           "rate.", STEP),
    Metric("retries", "statements", "lower",
           "Statements that were sent again because the server reported a deadlock, a lock wait timeout or a "
           "serialization failure.", STEP),
    Metric("min_id_resyncs", "queries", None,
           "Queries for the table's smallest id during the step: one for each 1000 batches that were deleted.", STEP),
    Metric("min_id_resync_seconds", "s", "lower", "Time of those queries, of all clients together.", STEP),
    Metric("inserts_per_s_with_setup", "rows/s", "higher",
           "Published tables' ips: rows inserted per second since the client's start; connecting and the query for the "
           "smallest id count.", STEP),
    Metric("first_client_p50_rate", "operations/s", "higher",
           "Published tables' p50: the rate that half of the seconds of the first client reach, in queries, or in rows "
           "where a step only inserts. Missing below 10 seconds.", STEP),
    Metric("first_client_p99_rate", "operations/s", "higher",
           "Published tables' p99: the rate that 99 % of the seconds of the first client reach.", STEP),
)  # fmt: skip

PUBLISHED = {
    "insert_benchmark": columns(
        """
        inserts_per_s=ips deletes_per_s=dps qps=qps device_reads_per_s=rps device_read_mb_per_s=rmbps
        device_writes_per_s=wps device_write_mb_per_s=wmbps reads_per_op=rpq read_kb_per_op=rkbpq
        writes_per_insert=wpi write_kb_per_insert=wkbpi context_switches_per_s=csps context_switches_per_op=cspq
        host_cpu_us_per_op=cpupq client_cpu_us_per_op=ccpupq tables_bytes=dbgb1 database_bytes=dbgb2
        server_virtual_bytes=vsz server_rss_bytes=rss max_insert_seconds=maxop median_qps=p50 worst_qps_p99=p99
        """
    ),
    "probes": columns("min_id_probe_seconds=getmin"),
}

OWN = MetricSet({"Inserts and searches": INSERT_BENCHMARK}, PUBLISHED)
