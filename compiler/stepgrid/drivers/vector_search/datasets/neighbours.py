"""The exact nearest neighbours of queries: candidates by float32 matrix products, distances in float64.

A candidate is every vector that the rounding of float32 cannot rule out, so that the neighbours are those that float64
alone would find.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from stepgrid.drivers.vector_search.datasets.shape import ANGULAR

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stepgrid.drivers.vector_search.datasets.point_generator import Vectors

    Ids: TypeAlias = NDArray[np.int32]
    Distances: TypeAlias = NDArray[np.float64]

MOST = 100  # neighbours of a query that are known, as in published files
BLOCK = 2**24  # distances that are held at once


def nearest(rows: Vectors, queries: Vectors, distance: str, count: int = MOST) -> tuple[Ids, Distances]:
    """(ids, distances) of each query, the nearest first; of equally near ones the one with the lower id."""
    import numpy as np

    count = min(count, len(rows))
    ids = np.empty((len(queries), count), np.int32)
    far = np.empty((len(queries), count), np.float64)
    for query, candidates in enumerate(_candidates(_prepared(rows, distance), _prepared(queries, distance), count)):
        found = distances(rows[candidates], queries[query], distance)
        order = np.lexsort((candidates, found))[:count]
        ids[query], far[query] = candidates[order], found[order]
    return ids, far


def distances(vectors: Vectors, query: Vectors, distance: str) -> Distances:
    """Euclidean, or 1 - cosine."""
    import numpy as np

    wide, asked = vectors.astype(np.float64), query.astype(np.float64)
    if distance != ANGULAR:
        found: Distances = np.sqrt(((wide - asked) ** 2).sum(axis=-1))
        return found
    lengths = np.linalg.norm(wide, axis=-1) * np.linalg.norm(asked, axis=-1)
    products = np.einsum("...i,...i->...", wide, asked)
    turned: Distances = 1 - products / np.where(lengths > 0, lengths, 1)
    return turned


def _prepared(vectors: Vectors, distance: str) -> Vectors:
    """Of unit vectors the Euclidean order is that of the angles."""
    import numpy as np

    if distance != ANGULAR:
        return vectors
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _candidates(rows: Vectors, queries: Vectors, count: int) -> Iterator[Ids]:
    """Of each query the ids that may be among its nearest."""
    import numpy as np

    centre = rows.mean(axis=0, dtype=np.float64).astype(np.float32)  # what is common to all would only be rounded
    rows, queries = rows - centre, queries - centre
    squares, asked = _squares(rows), _squares(queries)
    step = max(1, BLOCK // len(rows))
    for start in range(0, len(queries), step):
        part = queries[start : start + step]
        near = squares.astype(np.float32) - 2 * (part @ rows.T)
        limits = np.partition(near, count - 1, axis=1)[:, count - 1]
        slack = 2 * _error(rows.shape[1], squares.max(), asked[start : start + step])
        for line, limit in zip(near, limits + slack, strict=True):
            yield np.flatnonzero(line <= limit).astype(np.int32)


def _squares(vectors: Vectors) -> Distances:
    import numpy as np

    found: Distances = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return found


def _error(dimensions: int, largest: float, asked: Distances) -> Distances:
    """How far a squared distance may be off: the bound of a dot product, and the rounding of what goes into it."""
    import numpy as np

    unit = np.finfo(np.float32).eps / 2
    found: Distances = unit * (dimensions + 16) * (np.sqrt(largest) + np.sqrt(asked)) ** 2
    return found
