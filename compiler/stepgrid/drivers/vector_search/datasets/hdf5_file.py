"""A data set in a file as ann-benchmarks lays it out: `train`, `test`, and the attribute `distance`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.vector_search.datasets.shape import DISTANCES

if TYPE_CHECKING:
    from stepgrid.drivers.vector_search.datasets.point_generator import Vectors

PACKAGE = "h5py"
LACKING = "{path} cannot be read without h5py: install it with `pip install 'stepgrid[vectors]'`"


class DatasetError(Exception):
    """Why there are no vectors, as a sentence."""


def read(path: Path) -> tuple[Vectors, Vectors, str]:
    """(rows, queries, distance)."""
    try:
        import h5py
    except ImportError:
        raise DatasetError(LACKING.format(path=path)) from None
    try:
        with h5py.File(path, "r") as file:
            return _vectors(file, "train", path), _vectors(file, "test", path), _distance(file, path)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read as an HDF5 file: {_first_line(error)}") from None


def _vectors(file: Any, name: str, path: Path) -> Vectors:
    import numpy as np

    if name not in file:
        raise DatasetError(f"{path} has no `{name}`: a file as ann-benchmarks lays it out has `train` and `test`")
    found = np.asarray(file[name])
    if found.ndim != 2 or found.dtype.kind not in "fiu":
        raise DatasetError(f"`{name}` of {path} is no table of numbers: only dense vectors can be searched")
    return found.astype(np.float32)


def _distance(file: Any, path: Path) -> str:
    """Older files say it by their name alone."""
    said = file.attrs.get("distance")
    text = said.decode() if isinstance(said, bytes) else str(said or path.stem.rpartition("-")[2])
    if text not in DISTANCES:
        raise DatasetError(f"{path} has the distance `{text}`; vectors are searched by {' or '.join(DISTANCES)}")
    return text


def _first_line(error: OSError) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
