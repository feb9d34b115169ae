from __future__ import annotations

import numpy as np
import pytest

from stepgrid.drivers.vector_search.datasets.point_generator import points
from stepgrid.drivers.vector_search.datasets.shape import Shape, file_name, is_file, shape_of


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("random-xs-20-euclidean", Shape(9_000, 20, 1_000, "euclidean", centres=100)),
        ("random-xs-20-angular", Shape(9_000, 20, 1_000, "angular", centres=100)),
        ("random-s-100-euclidean", Shape(90_000, 100, 10_000, "euclidean", centres=1000)),
        ("random-s-100-angular", Shape(90_000, 100, 10_000, "angular", centres=1000)),
    ],
)
def test_published_names(name: str, shape: Shape) -> None:
    assert shape_of(name) == shape
    assert not is_file(name)


def test_a_tenth_of_the_points_are_queries_with_a_centre_for_each_hundred() -> None:
    found = shape_of({"generated": {"rows": 60_000, "dimensions": 784, "queries": None}})
    assert found == Shape(60_000, 784, 6_666, centres=666)


def test_files() -> None:
    assert shape_of("gist-960-euclidean") is None
    assert [file_name(name) for name in ("gist-960-euclidean", "data/own.hdf5", "own.h5")] == [
        "gist-960-euclidean.hdf5",
        "data/own.hdf5",
        "own.h5",
    ]


def test_the_same_shape_gives_the_same_points_and_another_seed_others() -> None:
    shape = Shape(90, 4, 10, centres=3)
    rows, queries = points(shape)
    again = points(shape)
    assert (rows.shape, queries.shape, rows.dtype) == ((90, 4), (10, 4), np.float32)
    assert (rows == again[0]).all()
    assert (queries == again[1]).all()
    assert not (rows == points(Shape(90, 4, 10, centres=3, seed=2))[0]).any()


def test_blobs_are_around_their_centres() -> None:
    """Around three centres there are three groups, each with a deviation of 1."""
    rows, _ = points(Shape(3000, 50, 1, centres=3))
    groups: list[list[np.ndarray]] = []
    for row in rows:
        near = next((group for group in groups if np.linalg.norm(group[0] - row) < 25), None)
        groups.append([row]) if near is None else near.append(row)
    assert len(groups) == 3
    assert all(np.std(np.array(group), axis=0).mean() == pytest.approx(1, abs=0.05) for group in groups)


def test_uniform_points() -> None:
    rows, _ = points(Shape(2000, 3, 1, distribution="uniform"))
    assert 0 <= rows.min() < 0.01 < 0.99 < rows.max() < 1
