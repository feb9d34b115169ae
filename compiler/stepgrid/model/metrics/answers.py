"""Metrics of inserts and of searches, whatever asked for them."""

from __future__ import annotations

from stepgrid.model.metrics.metric import Metric
from stepgrid.model.metrics.windows import STEP

ANSWERS = (
    Metric(
        "inserts_per_s",
        "rows/s",
        "higher",
        "Rows that all clients of a step inserted per second of wall time, also beside queries that are measured.",
        STEP,
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
