from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from stepgrid.drivers.vector_search.datasets import dataset as datasets
from stepgrid.drivers.vector_search.datasets import dataset_cache, hdf5_file
from stepgrid.drivers.vector_search.datasets.hdf5_file import DatasetError
from tests.waiting import until

SMALL: dict[str, Any] = {"generated": {"rows": 90, "dimensions": 4}}


def folders(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.is_dir())


def test_what_is_kept_is_what_was_made(tmp_path: Path) -> None:
    made = dataset_cache.get(SMALL, None, tmp_path)
    (folder,) = folders(tmp_path)
    before = (tmp_path / folder / "rows.npy").stat().st_mtime_ns
    again = dataset_cache.get(SMALL, None, tmp_path)
    assert (tmp_path / folder / "rows.npy").stat().st_mtime_ns == before
    assert (again.distance, again.checksum, again.dimensions) == (made.distance, made.checksum, 4)
    assert (again.neighbours.shape, again.distances.shape) == ((10, 90), (10, 90))
    assert (np.asarray(again.rows) == np.asarray(made.rows)).all()


def test_another_shape_is_another_data_set(tmp_path: Path) -> None:
    one = dataset_cache.get(SMALL, None, tmp_path)
    two = dataset_cache.get({"generated": {**SMALL["generated"], "seed": 2}}, None, tmp_path)
    assert one.checksum != two.checksum
    assert len(folders(tmp_path)) == 2


PROGRAM = """
import sys
from pathlib import Path
from stepgrid.drivers.vector_search.datasets import dataset_cache
print(dataset_cache.get({"generated": {"rows": int(sys.argv[2]), "dimensions": 64}}, None, Path(sys.argv[1])).checksum)
"""


def start(cache: Path, rows: int) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", PROGRAM, str(cache), str(rows)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_make_it_once(tmp_path: Path) -> None:
    both = [start(tmp_path, 2000) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert said[0] == said[1] != ""
    (folder,) = folders(tmp_path)
    times = {(tmp_path / folder / f"{name}.npy").stat().st_mtime_ns for name in datasets.ARRAYS}
    assert len(times) == len(datasets.ARRAYS)


def test_one_that_was_killed_leaves_nothing_that_counts(tmp_path: Path) -> None:
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


def file(path: Path, **arrays: Any) -> Path:
    with h5py.File(path, "w") as made:
        for name, values in arrays.items():
            made[name] = values
        made.attrs["distance"] = "euclidean"
    return path


def test_a_file_as_ann_benchmarks_lays_it_out(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    train, test = (draw.random((size, 8)).astype(np.float32) for size in (200, 20))
    path = file(tmp_path / "own.hdf5", train=train, test=test)
    found = dataset_cache.get("own.hdf5", path, tmp_path / "cache")
    assert (np.asarray(found.rows) == train).all()
    assert (np.asarray(found.queries) == test).all()
    assert (found.distance, found.neighbours.shape) == ("euclidean", (20, 100))


def test_a_file_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    values = np.eye(3, dtype=np.float32)
    one = file(tmp_path / "one.hdf5", train=values, test=values)
    (tmp_path / "two.hdf5").write_bytes(one.read_bytes())
    for name in ("one", "two"):
        dataset_cache.get(f"{name}.hdf5", tmp_path / f"{name}.hdf5", tmp_path / "cache")
    assert len(folders(tmp_path / "cache")) == 1


def test_an_older_file_says_its_distance_by_its_name(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "glove-25-angular.hdf5", "w") as made:
        made["train"] = made["test"] = np.eye(3)
    assert hdf5_file.read(tmp_path / "glove-25-angular.hdf5")[2] == "angular"


def test_what_is_no_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
            dataset_cache.get("a.hdf5", path, tmp_path / "cache")
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
        hdf5_file.read(path)
    assert str(caught.value) == f"{path} has the distance `jaccard`; vectors are searched by euclidean or angular"
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DatasetError) as caught:
        hdf5_file.read(path)
    assert str(caught.value) == f"{path} cannot be read without h5py: install it with `pip install 'stepgrid[vectors]'`"
