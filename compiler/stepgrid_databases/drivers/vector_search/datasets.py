"""Data sets of vectors: generated ones by their shape, published and own files, each with its exact neighbours.

A data set is made once for all stages, as files of numpy that all processes of a machine can map.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from stepgrid_databases.vectors import ANGULAR, EUCLIDEAN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    Ids: TypeAlias = NDArray[np.int32]
    Distances: TypeAlias = NDArray[np.float64]

DISTANCES = (EUCLIDEAN, ANGULAR)
CLUSTERED, UNIFORM = "clustered", "uniform"
HDF5 = ".hdf5"
SUFFIXES = (HDF5, ".h5")
POINTS_OF_A_CENTRE = 100  # as in the published shapes
ROWS_OF_A_QUERY = 9  # a tenth of the points are queries
ARRAYS = ("rows", "queries", "neighbours", "distances")
DESCRIPTION = "about.json"
CACHE_REVISION = 1  # of the files of a data set
POINTS_REVISION = 1  # of the points that a shape gives
SIDE = 10.0  # half of the cube of the centres
MOST_NEIGHBOURS = 100  # exact neighbours of a query, as in published files
BLOCK = 2**24  # distances that are computed at once
H5PY_LACKING = "{path} cannot be read without h5py: install it with `pip install 'stepgrid[vectors]'`"


class DatasetError(Exception):
    """A data set that cannot be read, with the reason as a sentence."""


class Shape(Struct, frozen=True):
    rows: int  # that are indexed
    dimensions: int
    queries: int
    distance: str = EUCLIDEAN
    distribution: str = CLUSTERED
    centres: int = 1
    seed: int = 1


_SIZES = {"xs-20": (9_000, 20, 1_000, 100), "s-100": (90_000, 100, 10_000, 1_000)}
PUBLISHED: Mapping[str, Shape] = {
    f"random-{size}-{distance}": Shape(rows, dimensions, queries, distance, centres=centres)
    for size, (rows, dimensions, queries, centres) in _SIZES.items()
    for distance in DISTANCES
}

# Data sets that are published as files: (vectors, dimensions)
USUAL = (60_000, 784)
FILES: Mapping[str, tuple[int, int]] = {
    "fashion-mnist-784-euclidean": USUAL,
    "mnist-784-euclidean": USUAL,
    "gist-960-euclidean": (1_000_000, 960),
    "sift-128-euclidean": (1_000_000, 128),
    "dbpedia-openai-100k-angular": (90_000, 1536),
}


def shape_of(dataset: str | Mapping[str, Any]) -> Shape | None:
    """Give the shape of a generated data set; None of a file."""
    if isinstance(dataset, str):
        return PUBLISHED.get(dataset)
    settings = {name: value for name, value in dataset["generated"].items() if value is not None}
    rows = settings["rows"]
    queries = settings.pop("queries", max(1, rows // ROWS_OF_A_QUERY))
    centres = settings.pop("centres", max(1, (rows + queries) // POINTS_OF_A_CENTRE))
    return Shape(**settings, queries=queries, centres=centres)


def size_of(dataset: str | Mapping[str, Any]) -> tuple[int, int] | None:
    """Give vectors and dimensions; None of a file that is not known by its name."""
    shape = shape_of(dataset)
    if shape is not None:
        return shape.rows, shape.dimensions
    name = str(dataset)
    return FILES.get(PurePath(name).stem if name.endswith(SUFFIXES) else name)


def is_file(dataset: str | Mapping[str, Any]) -> bool:
    return isinstance(dataset, str) and dataset not in PUBLISHED


def file_name(dataset: str) -> str:
    """Name the file of a data set; one that is published by a name is a file of that name, beside the spec."""
    return dataset if dataset.endswith(SUFFIXES) else f"{dataset}{HDF5}"


class Dataset(Struct, frozen=True):
    rows: Vectors
    queries: Vectors
    neighbours: Ids
    distances: Distances
    distance: str
    checksum: str  # of rows and queries

    @property
    def dimensions(self) -> int:
        return int(self.rows.shape[1])


def get(name: str | Mapping[str, Any], file: Path | None, cache: Path) -> Dataset:
    """Load a data set, of `file` where it is one; whoever asks first makes it, for all stages."""
    from stepgrid.host.files import make_folder
    from stepgrid.host.locks import locked

    shape = shape_of(name)
    digest = _digest(shape, file)
    make_folder(cache)
    with locked(cache / f"{digest}.lock"):  # a process that dies frees it: the next one begins again
        if not (cache / digest).is_dir():
            if shape is not None:
                dataset = make(*points(shape), shape.distance)
            else:
                assert file is not None
                dataset = make(*read_hdf5(file))
            _publish(dataset, cache, digest)
    return load(cache / digest)


def _digest(shape: Shape | None, file: Path | None) -> str:
    from stepgrid.language.files import checksum

    if shape is not None:
        content: Any = [POINTS_REVISION, asdict(shape)]
    elif file is not None and file.is_file():
        content = checksum(str(file))
    else:
        raise DatasetError(f"there is no file {file}")
    text = json.dumps([CACHE_REVISION, MOST_NEIGHBOURS, content], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:20]


def _publish(dataset: Dataset, cache: Path, digest: str) -> None:
    from stepgrid.host.files import remove_tree, sync_tree

    for leftover in cache.glob(f".{digest}.*"):  # of one that was killed: only we hold the lock
        remove_tree(leftover)
    staged = cache / f".{digest}.{os.getpid()}"
    staged.mkdir()
    save(dataset, staged)
    sync_tree(staged)
    os.rename(staged, cache / digest)


def make(rows: Vectors, queries: Vectors, distance: str) -> Dataset:
    import numpy as np

    rows, queries = np.ascontiguousarray(rows), np.ascontiguousarray(queries)
    checksum = sha256(rows.data)
    checksum.update(queries.data)
    return Dataset(rows, queries, *nearest(rows, queries, distance), distance, checksum.hexdigest()[:20])


def save(dataset: Dataset, folder: Path) -> None:
    import numpy as np

    for name in ARRAYS:
        np.save(folder / f"{name}.npy", getattr(dataset, name))
    description = {"distance": dataset.distance, "checksum": dataset.checksum}
    (folder / DESCRIPTION).write_text(json.dumps(description), encoding="utf-8")


def load(folder: Path) -> Dataset:
    import numpy as np

    description: Mapping[str, str] = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
    return Dataset(**arrays, distance=description["distance"], checksum=description["checksum"])


def read_hdf5(path: Path) -> tuple[Vectors, Vectors, str]:
    """Read (rows, queries, distance) of a file as ann-benchmarks lays it out."""
    try:
        import h5py
    except ImportError:
        raise DatasetError(H5PY_LACKING.format(path=path)) from None
    try:
        with h5py.File(path, "r") as file:
            return _vectors(file, "train", path), _vectors(file, "test", path), _distance(file, path)
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read as an HDF5 file: {(str(error) or type(error).__name__).splitlines()[0]}"
        ) from None


def _vectors(file: Any, name: str, path: Path) -> Vectors:
    import numpy as np

    if name not in file:
        raise DatasetError(f"{path} has no `{name}`: a file as ann-benchmarks lays it out has `train` and `test`")
    vectors = np.asarray(file[name])
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise DatasetError(f"`{name}` of {path} is no table of numbers: only dense vectors can be searched")
    return vectors.astype(np.float32)


def _distance(file: Any, path: Path) -> str:
    """Read the distance; older files have it in their name alone."""
    attribute = file.attrs.get("distance")
    text = attribute.decode() if isinstance(attribute, bytes) else str(attribute or path.stem.rpartition("-")[2])
    if text not in DISTANCES:
        raise DatasetError(f"{path} has the distance `{text}`; vectors are searched by {' or '.join(DISTANCES)}")
    return text


def points(shape: Shape) -> tuple[Vectors, Vectors]:
    """Draw (vectors that are indexed, queries) alike: blobs around centres in a cube, or uniform ones."""
    import numpy as np

    draw, count = np.random.Generator(np.random.PCG64(shape.seed)), shape.rows + shape.queries
    vectors: Vectors
    if shape.distribution == UNIFORM:
        vectors = draw.random((count, shape.dimensions), dtype=np.float32)
    else:
        centres = draw.uniform(-SIDE, SIDE, (shape.centres, shape.dimensions)).astype(np.float32)
        vectors = draw.standard_normal((count, shape.dimensions), dtype=np.float32)
        vectors += centres[draw.integers(shape.centres, size=count)]
    return vectors[: shape.rows], vectors[shape.rows :]


def nearest(rows: Vectors, queries: Vectors, distance: str, count: int = MOST_NEIGHBOURS) -> tuple[Ids, Distances]:
    """Find (ids, distances) of each query, the nearest first; of equally near ones the one with the lower id.

    Candidates come of float32 matrix products: all vectors that rounding cannot rule out. Distances are of float64,
    so that the neighbours are those that float64 alone would find.
    """
    import numpy as np

    count = min(count, len(rows))
    ids = np.empty((len(queries), count), np.int32)
    far = np.empty((len(queries), count), np.float64)
    for query, candidates in enumerate(_candidates(_prepared(rows, distance), _prepared(queries, distance), count)):
        exact = distances(rows[candidates], queries[query], distance)
        order = np.lexsort((candidates, exact))[:count]
        ids[query], far[query] = candidates[order], exact[order]
    return ids, far


def distances(vectors: Vectors, query: Vectors, distance: str) -> Distances:
    """Compute Euclidean distances, or 1 - cosine."""
    import numpy as np

    wide, target = vectors.astype(np.float64), query.astype(np.float64)
    if distance != ANGULAR:
        euclidean: Distances = np.sqrt(((wide - target) ** 2).sum(axis=-1))
        return euclidean
    lengths = np.linalg.norm(wide, axis=-1) * np.linalg.norm(target, axis=-1)
    products = np.einsum("...i,...i->...", wide, target)
    angular: Distances = 1 - products / np.where(lengths > 0, lengths, 1)
    return angular


def _prepared(vectors: Vectors, distance: str) -> Vectors:
    """Make unit vectors where angles count: their Euclidean order is that of the angles."""
    import numpy as np

    if distance != ANGULAR:
        return vectors
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _candidates(rows: Vectors, queries: Vectors, count: int) -> Iterator[Ids]:
    """Yield for each query the ids that may be among its nearest."""
    import numpy as np

    centre = rows.mean(axis=0, dtype=np.float64).astype(np.float32)  # what is common to all would only be rounded
    rows, queries = rows - centre, queries - centre
    squares, query_squares = _squares(rows), _squares(queries)
    step = max(1, BLOCK // len(rows))
    for start in range(0, len(queries), step):
        part = queries[start : start + step]
        near = squares.astype(np.float32) - 2 * (part @ rows.T)
        limits = np.partition(near, count - 1, axis=1)[:, count - 1]
        slack = 2 * _error(rows.shape[1], squares.max(), query_squares[start : start + step])
        for line, limit in zip(near, limits + slack, strict=True):
            yield np.flatnonzero(line <= limit).astype(np.int32)


def _squares(vectors: Vectors) -> Distances:
    import numpy as np

    squares: Distances = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return squares


def _error(dimensions: int, largest: float, query_squares: Distances) -> Distances:
    """Bound the error of a squared distance: that of a dot product, and the rounding of its operands."""
    import numpy as np

    unit = np.finfo(np.float32).eps / 2
    error: Distances = unit * (dimensions + 16) * (np.sqrt(largest) + np.sqrt(query_squares)) ** 2
    return error
