"""The shape of a generated data set, and the published names that stand for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

EUCLIDEAN, ANGULAR = "euclidean", "angular"
DISTANCES = (EUCLIDEAN, ANGULAR)
CLUSTERED, UNIFORM = "clustered", "uniform"
HDF5 = ".hdf5"
SUFFIXES = (HDF5, ".h5")
POINTS_OF_A_CENTRE = 100  # as in the published shapes
ROWS_OF_A_QUERY = 9  # a tenth of the points are queries


@dataclass(frozen=True, slots=True)
class Shape:
    rows: int  # that are indexed
    dimensions: int
    queries: int
    distance: str = EUCLIDEAN
    distribution: str = CLUSTERED
    centres: int = 1
    seed: int = 1


def _published(points: int, dimensions: int, centres: int, distance: str) -> Shape:
    return Shape(points - points // 10, dimensions, points // 10, distance, centres=centres)


_SIZES = {"xs-20": (10_000, 20, 100), "s-100": (100_000, 100, 1000)}
PUBLISHED: Mapping[str, Shape] = MappingProxyType(
    {
        f"random-{size}-{distance}": _published(*numbers, distance)
        for size, numbers in _SIZES.items()
        for distance in DISTANCES
    }
)


def shape_of(dataset: str | Mapping[str, Any]) -> Shape | None:
    """None where it is a file."""
    if isinstance(dataset, str):
        return PUBLISHED.get(dataset)
    given = {name: value for name, value in dataset["generated"].items() if value is not None}
    rows = given["rows"]
    queries = given.pop("queries", max(1, rows // ROWS_OF_A_QUERY))
    centres = given.pop("centres", max(1, (rows + queries) // POINTS_OF_A_CENTRE))
    return Shape(**given, queries=queries, centres=centres)


# Data sets that are published as files: (vectors, dimensions)
USUAL = (60_000, 784)
FILES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "fashion-mnist-784-euclidean": USUAL,
        "mnist-784-euclidean": USUAL,
        "gist-960-euclidean": (1_000_000, 960),
        "sift-128-euclidean": (1_000_000, 128),
        "dbpedia-openai-100k-angular": (90_000, 1536),
    }
)


def size_of(dataset: str | Mapping[str, Any]) -> tuple[int, int] | None:
    """None of a file that is not known by its name."""
    shape = shape_of(dataset)
    if shape is not None:
        return shape.rows, shape.dimensions
    name = str(dataset)
    return FILES.get(PurePath(name).stem if name.endswith(SUFFIXES) else name)


def is_file(dataset: str | Mapping[str, Any]) -> bool:
    return isinstance(dataset, str) and dataset not in PUBLISHED


def file_name(dataset: str) -> str:
    """A data set that is published by that name is a file of that name, beside the spec."""
    return dataset if dataset.endswith(SUFFIXES) else f"{dataset}{HDF5}"


def title(dataset: str | Mapping[str, Any]) -> str:
    found = shape_of(dataset)
    if isinstance(dataset, str) or found is None:
        return str(dataset)
    return f"{found.distribution}-{found.rows}x{found.dimensions}-{found.distance}"
