"""Vectors as servers take them on the wire: pgvector's binary formats, and MariaDB's, which is float32 alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepgrid.drivers.vector_search.datasets.point_generator import Vectors

VECTOR, HALFVEC = "vector", "halfvec"
ELEMENTS = (VECTOR, HALFVEC)
_TYPES: Mapping[str, str] = {VECTOR: ">f4", HALFVEC: ">f2"}
LARGEST_HALF = 65504.0


def pgvector(vectors: Vectors, element: str) -> list[bytes]:
    """Of each vector: int16 dimensions, int16 of no use, then the numbers, all big-endian."""
    import numpy as np

    if element == HALFVEC and np.abs(vectors).max(initial=0.0) > LARGEST_HALF:
        raise ValueError(f"numbers beyond {LARGEST_HALF:g} do not fit into halfvec")
    head = np.array([vectors.shape[1], 0], ">i2").tobytes()
    return [head + line.tobytes() for line in vectors.astype(_TYPES[element])]


def mariadb(vectors: Vectors) -> list[bytes]:
    return [line.tobytes() for line in vectors.astype("<f4")]
