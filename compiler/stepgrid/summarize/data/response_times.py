"""The histograms of latencies, as shares of the classes that the published tables of response times have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from stepgrid.collect import query
from stepgrid.model.figures import LATENCY_CLASSES, LATENCY_LIMITS
from stepgrid.summarize.data.parquet_reader import Place

Shares = Mapping[str, Sequence[float]]  # operation, "" of all -> per cent in each class

# by the class that a bucket's longest operation is in: so many limits are below it
_CLASS = " + ".join(f"(most > {limit})::INTEGER" for limit in [*LATENCY_LIMITS.values()][:-1])
_QUERY = f"""
SELECT stage, position, coalesce(operation, '') AS kind, {_CLASS} AS class, sum(operations) AS operations
FROM {{}} GROUP BY ALL ORDER BY ALL
"""


def shares(folder: Path) -> dict[Place, dict[str, list[float]]]:
    """Added up where they are read: buckets are many."""
    counts: dict[tuple[Place, str], list[float]] = defaultdict(lambda: [0.0] * len(LATENCY_CLASSES))
    with query.open_tables(folder) as connection:
        rows = connection.execute(_QUERY.format("histograms")).fetchall()
    for stage, position, operation, at, operations in rows:
        counts[(stage, position), operation][at] = operations
    found: dict[Place, dict[str, list[float]]] = defaultdict(dict)
    for (place, operation), each in counts.items():
        if total := sum(each):
            found[place][operation] = [100 * count / total for count in each]
    return found


def together(runs: Iterable[Shares]) -> Shares:
    """Means over the loads: medians would not add up to all of the operations."""
    found: dict[str, list[Sequence[float]]] = defaultdict(list)
    for run in runs:
        for operation, each in run.items():
            found[operation].append(each)
    return {operation: [fmean(column) for column in zip(*each, strict=True)] for operation, each in found.items()}
