"""Recall: how many of the true nearest neighbours a search has found, by distance as published, and by id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.drivers.vector_search.datasets.neighbours import distances

if TYPE_CHECKING:
    from stepgrid.drivers.vector_search.datasets.dataset import Dataset

TOLERANCE = 1e-3  # that a distance may be above the k-th true one, as published
LOW = 5  # the percentile of queries


class Recall(NamedTuple):
    by_distance: float
    by_distance_p5: float
    by_id: float
    by_id_p5: float
    short: int  # answers with fewer than k different ids

    @classmethod
    def of(cls, answers: Sequence[Sequence[int]], dataset: Dataset, k: int) -> Recall:
        """`answers`: of all queries, in their order."""
        import numpy as np

        near = np.array([_by_distance(answer, query, dataset, k) for query, answer in enumerate(answers)])
        same = np.array([_by_id(answer, query, dataset, k) for query, answer in enumerate(answers)])
        short = sum(len(set(answer)) < k for answer in answers)
        return cls(_mean(near), _low(near), _mean(same), _low(same), short)


def _by_distance(answer: Sequence[int], query: int, dataset: Dataset, k: int) -> float:
    """An id that comes twice is one answer."""
    ids = sorted(set(answer))
    if not ids:
        return 0.0
    found = distances(dataset.rows[ids], dataset.queries[query], dataset.distance)
    return float((found <= dataset.distances[query, k - 1] + TOLERANCE).sum()) / k


def _by_id(answer: Sequence[int], query: int, dataset: Dataset, k: int) -> float:
    return len(set(answer) & set(dataset.neighbours[query, :k].tolist())) / k


def _mean(values: Any) -> float:
    return float(values.mean())


def _low(values: Any) -> float:
    import numpy as np

    return float(np.percentile(values, LOW))
