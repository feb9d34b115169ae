from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid.drivers.vector_search.datasets import neighbours


def brute(rows, queries, distance, count):
    """By float64 alone, in the words of the definition."""
    ids, far = [], []
    for query in queries.astype(np.float64):
        wide = rows.astype(np.float64)
        if distance == "euclidean":
            found = np.sqrt(((wide - query) ** 2).sum(axis=1))
        else:
            found = 1 - wide @ query / (np.linalg.norm(wide, axis=1) * np.linalg.norm(query))
        order = np.lexsort((np.arange(len(rows)), found))[:count]
        ids.append(order)
        far.append(found[order])
    return np.array(ids), np.array(far)


@settings(deadline=None, max_examples=60)
@given(
    rows=st.integers(1, 300),
    dimensions=st.integers(1, 40),
    count=st.integers(1, 20),
    offset=st.sampled_from([0.0, 1.0, 1e4]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_neighbours_are_those_of_float64(rows, dimensions, count, offset, scale, seed) -> None:
    """Also where all vectors lie far from 0, so that float32 tells them hardly apart."""
    draw = np.random.default_rng(seed)
    vectors, queries = (
        (draw.standard_normal((size, dimensions)) * scale + offset).astype(np.float32) for size in (rows, 5)
    )
    ids, far = neighbours.nearest(vectors, queries, "euclidean", count)
    expected, expected_far = brute(vectors, queries, "euclidean", count)
    assert far == pytest.approx(expected_far)
    assert ids.tolist() == expected.tolist()


@settings(deadline=None, max_examples=30)
@given(rows=st.integers(10, 300), dimensions=st.integers(2, 40), seed=st.integers(0, 2**32 - 1))
def test_neighbours_by_angle(rows, dimensions, seed) -> None:
    draw = np.random.default_rng(seed)
    vectors, queries = (draw.standard_normal((size, dimensions)).astype(np.float32) for size in (rows, 5))
    _, far = neighbours.nearest(vectors * draw.uniform(0.1, 9, (rows, 1)).astype(np.float32), queries, "angular", 10)
    assert far == pytest.approx(brute(vectors, queries, "angular", 10)[1], abs=1e-6)
    assert (np.diff(far, axis=1) >= 0).all()


def test_equally_near_ones_are_in_the_order_of_their_ids() -> None:
    vectors = np.array([[1, 0], [0, 1], [0, 0], [-1, 0], [0, -1]], np.float32)
    ids, far = neighbours.nearest(vectors, np.zeros((1, 2), np.float32), "euclidean", 4)
    assert ids.tolist() == [[2, 0, 1, 3]]
    assert far.tolist() == [[0, 1, 1, 1]]


def test_a_vector_without_length_has_no_angle_and_is_far_from_all() -> None:
    vectors = np.array([[0, 0], [1, 0]], np.float32)
    ids, far = neighbours.nearest(vectors, np.array([[2, 0]], np.float32), "angular", 2)
    assert (ids.tolist(), far.tolist()) == ([[1, 0]], [[0.0, 1.0]])
