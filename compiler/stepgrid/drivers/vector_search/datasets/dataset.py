"""A data set with its exact neighbours, as files of numpy that all processes of a machine can map."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepgrid.drivers.vector_search.datasets.neighbours import Distances, Ids
    from stepgrid.drivers.vector_search.datasets.point_generator import Vectors

ARRAYS = ("rows", "queries", "neighbours", "distances")
ABOUT = "about.json"


@dataclass(frozen=True, slots=True)
class Dataset:
    rows: Vectors
    queries: Vectors
    neighbours: Ids
    distances: Distances
    distance: str
    checksum: str  # of rows and queries

    @property
    def dimensions(self) -> int:
        return int(self.rows.shape[1])


def make(rows: Vectors, queries: Vectors, distance: str) -> Dataset:
    import numpy as np

    from stepgrid.drivers.vector_search.datasets import neighbours

    rows, queries = np.ascontiguousarray(rows), np.ascontiguousarray(queries)
    found = sha256(rows.data)
    found.update(queries.data)
    return Dataset(rows, queries, *neighbours.nearest(rows, queries, distance), distance, found.hexdigest()[:20])


def save(dataset: Dataset, folder: Path) -> None:
    import numpy as np

    for name in ARRAYS:
        np.save(folder / f"{name}.npy", getattr(dataset, name))
    about = {"distance": dataset.distance, "checksum": dataset.checksum}
    (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")


def load(folder: Path) -> Dataset:
    """FileNotFoundError where it is not there."""
    import numpy as np

    about: Mapping[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
    return Dataset(**arrays, distance=about["distance"], checksum=about["checksum"])
