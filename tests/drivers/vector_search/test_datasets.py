import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid_databases.drivers.vector_search import datasets
from stepgrid_databases.drivers.vector_search.datasets import DatasetError, Shape, is_file, points, shape_of
from tests.waiting import until

SMALL = {"generated": {"rows": 90, "dimensions": 4}}


def folders(cache):
    return sorted(path.name for path in cache.iterdir() if path.is_dir())


def test_what_is_kept_is_what_was_made(tmp_path):
    made = datasets.get(SMALL, None, tmp_path)
    (folder,) = folders(tmp_path)
    before = (tmp_path / folder / "rows.npy").stat().st_mtime_ns
    again = datasets.get(SMALL, None, tmp_path)
    assert (tmp_path / folder / "rows.npy").stat().st_mtime_ns == before
    assert (again.distance, again.checksum, again.dimensions) == (made.distance, made.checksum, 4)
    assert (again.neighbours.shape, again.distances.shape) == ((10, 90), (10, 90))
    assert (np.asarray(again.rows) == np.asarray(made.rows)).all()


PROGRAM = """
import sys
from pathlib import Path
from stepgrid_databases.drivers.vector_search import datasets
print(datasets.get({"generated": {"rows": int(sys.argv[2]), "dimensions": 64}}, None, Path(sys.argv[1])).checksum)
"""


def start(cache, rows):
    argv = [sys.executable, "-c", PROGRAM, str(cache), str(rows)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_make_it_once(tmp_path):
    both = [start(tmp_path, 2000) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert said[0] == said[1] != ""
    (folder,) = folders(tmp_path)
    times = {(tmp_path / folder / f"{name}.npy").stat().st_mtime_ns for name in datasets.ARRAYS}
    assert len(times) == len(datasets.ARRAYS)


def test_one_that_was_killed_leaves_nothing_that_counts(tmp_path):
    process = start(tmp_path, 20_000)
    until(lambda: any(path.suffix == ".lock" for path in tmp_path.iterdir()))
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    whole = folders(tmp_path)
    (lock,) = (path.stem for path in tmp_path.iterdir() if path.suffix == ".lock")
    (tmp_path / f".{lock}.1").mkdir()
    (tmp_path / f".{lock}.1" / "rows.npy").write_bytes(b"half")
    said, wrong = start(tmp_path, 20_000).communicate()
    assert said.strip(), wrong
    assert folders(tmp_path) == [lock] or whole == [lock]


def file(path, **arrays):
    with h5py.File(path, "w") as made:
        for name, values in arrays.items():
            made[name] = values
        made.attrs["distance"] = "euclidean"
    return path


def test_a_file_as_ann_benchmarks_lays_it_out(tmp_path):
    draw = np.random.default_rng(1)
    train, test = (draw.random((size, 8)).astype(np.float32) for size in (200, 20))
    path = file(tmp_path / "own.hdf5", train=train, test=test)
    found = datasets.get("own.hdf5", path, tmp_path / "cache")
    assert (np.asarray(found.rows) == train).all()
    assert (np.asarray(found.queries) == test).all()
    assert (found.distance, found.neighbours.shape) == ("euclidean", (20, 100))


def test_a_file_is_known_by_what_is_in_it(tmp_path):
    values = np.eye(3, dtype=np.float32)
    one = file(tmp_path / "one.hdf5", train=values, test=values)
    (tmp_path / "two.hdf5").write_bytes(one.read_bytes())
    for name in ("one", "two"):
        datasets.get(f"{name}.hdf5", tmp_path / f"{name}.hdf5", tmp_path / "cache")
    assert len(folders(tmp_path / "cache")) == 1


def test_what_is_no_data_set(tmp_path, monkeypatch):
    path = tmp_path / "a.hdf5"
    said = []
    for make in (
        lambda: path.unlink(missing_ok=True),
        lambda: path.write_text("no HDF5"),
        lambda: file(path, train=np.eye(2)),
        lambda: file(path, train=np.eye(2), test=np.arange(4)),
    ):
        make()
        with pytest.raises(DatasetError) as caught:
            datasets.get("a.hdf5", path, tmp_path / "cache")
        said.append(str(caught.value))
    assert said == [
        f"there is no file {path}",
        f"{path} cannot be read as an HDF5 file: Unable to synchronously open file (file signature not found)",
        f"{path} has no `test`: a file as ann-benchmarks lays it out has `train` and `test`",
        f"`test` of {path} is no table of numbers: only dense vectors can be searched",
    ]
    file(path, train=np.eye(2), test=np.eye(2))
    with h5py.File(path, "a") as made:
        made.attrs["distance"] = "jaccard"
    with pytest.raises(DatasetError) as caught:
        datasets.read_hdf5(path)
    assert str(caught.value) == f"{path} has the distance `jaccard`; vectors are searched by euclidean or angular"
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DatasetError) as caught:
        datasets.read_hdf5(path)
    assert str(caught.value) == f"{path} cannot be read without h5py: install it with `pip install 'stepgrid[vectors]'`"


# Shapes.


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("random-xs-20-euclidean", Shape(9_000, 20, 1_000, "euclidean", centres=100)),
        ("random-xs-20-angular", Shape(9_000, 20, 1_000, "angular", centres=100)),
        ("random-s-100-euclidean", Shape(90_000, 100, 10_000, "euclidean", centres=1000)),
        ("random-s-100-angular", Shape(90_000, 100, 10_000, "angular", centres=1000)),
    ],
)
def test_published_names(name, shape):
    assert shape_of(name) == shape
    assert not is_file(name)


def test_the_same_shape_gives_the_same_points_and_another_seed_others():
    shape = Shape(90, 4, 10, centres=3)
    rows, queries = points(shape)
    again = points(shape)
    assert (rows.shape, queries.shape, rows.dtype) == ((90, 4), (10, 4), np.float32)
    assert (rows == again[0]).all()
    assert (queries == again[1]).all()
    assert not (rows == points(Shape(90, 4, 10, centres=3, seed=2))[0]).any()


# Exact neighbours.


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
def test_neighbours_are_those_of_float64(rows, dimensions, count, offset, scale, seed):
    """Also where all vectors lie far from 0, so that float32 tells them hardly apart."""
    draw = np.random.default_rng(seed)
    vectors, queries = (
        (draw.standard_normal((size, dimensions)) * scale + offset).astype(np.float32) for size in (rows, 5)
    )
    ids, far = datasets.nearest(vectors, queries, "euclidean", count)
    expected, expected_far = brute(vectors, queries, "euclidean", count)
    assert far == pytest.approx(expected_far)
    assert ids.tolist() == expected.tolist()


def test_equally_near_ones_are_in_the_order_of_their_ids():
    vectors = np.array([[1, 0], [0, 1], [0, 0], [-1, 0], [0, -1]], np.float32)
    ids, far = datasets.nearest(vectors, np.zeros((1, 2), np.float32), "euclidean", 4)
    assert ids.tolist() == [[2, 0, 1, 3]]
    assert far.tolist() == [[0, 1, 1, 1]]


def test_a_vector_without_length_has_no_angle_and_is_far_from_all():
    vectors = np.array([[0, 0], [1, 0]], np.float32)
    ids, far = datasets.nearest(vectors, np.array([[2, 0]], np.float32), "angular", 2)
    assert (ids.tolist(), far.tolist()) == ([[1, 0]], [[0.0, 1.0]])
