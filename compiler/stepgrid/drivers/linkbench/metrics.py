"""The metrics of steps of kind linkbench that no other kind has."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.drivers.linkbench.settings import MIX
from stepgrid.model.metrics.metric import STEP, Metric, MetricSet

GRAPH = (
    Metric("nodes_loaded", "rows", None, "Nodes that a load inserted.", STEP),
    Metric("links_loaded", "rows", None, "Links that a load inserted.", STEP),
    Metric("counts_loaded", "rows", None, "Counts that a load inserted: one for each node and link type.", STEP),
    Metric("indexed_links_per_s", "rows/s", "higher",
           "Links per second of the second phase of a load, which makes the secondary index.", STEP),
    Metric("continued_lists", "queries", None, "Lists of links that continued an earlier one.", STEP),
)  # fmt: skip


def _of_operations() -> Iterator[Metric]:
    for name in MIX:
        yield Metric(f"{name}_share_pct", "%", None, f"Share of the requests that were `{name}`.", STEP)
        yield Metric(f"{name}_avg_us", "us", "lower", f"Mean latency of `{name}`.", STEP)
        for percent in ("50", "95", "99"):
            yield Metric(
                f"{name}_p{percent}_us", "us", "lower", f"{percent}th percentile of the latency of `{name}`.", STEP
            )
        yield Metric(f"{name}_max_us", "us", "lower", f"Highest latency of `{name}`.", STEP)


OWN = MetricSet({"LinkBench": (*GRAPH, *_of_operations())})
