"""The metrics of steps of kind vector_search that no other kind has."""

from __future__ import annotations

from stepgrid.model.metrics.metric import STEP, Metric, MetricSet

ALL_RUNS = "all runs of the step"
LAST_RUN = "the last run of the step, as published"

SEARCH = (
    Metric("all_runs_qps", "operations/s", "higher",
           "Queries of all runs of a step per second of these runs; qps is that of the fastest run, as published.",
           ALL_RUNS),
    Metric("recall_p5", "1", "higher", "5th percentile over queries of recall by distance.", LAST_RUN),
    Metric("recall_by_id", "1", "higher",
           "Share of the true k nearest neighbours among those returned, by id: one that is as near as the k-th true "
           "one and is another vector does not count. The mean over queries.", LAST_RUN),
    Metric("recall_by_id_p5", "1", "higher", "5th percentile over queries of recall by id.", LAST_RUN),
    Metric("short_answers", "queries", "lower", "Queries that were answered with fewer than k vectors.", LAST_RUN),
)  # fmt: skip
INDEX = (
    Metric("vector_index_bytes", "B", "lower",
           "Size of the vector index: pg_relation_size of PostgreSQL's; of MariaDB's the file of its hidden table.",
           STEP),
    Metric("indexed_rows_per_s", "rows/s", "higher", "Vectors per second of making the index.", STEP),
)  # fmt: skip

OWN = MetricSet({"Vector search": (*SEARCH, *INDEX)}, published={"vector_search": {"recall": "recall", "qps": "qps"}})
