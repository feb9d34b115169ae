"""Data sets with their neighbours, made once for all stages: by what they are made of, whoever asks first."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from stepgrid.drivers.vector_search.datasets import dataset as datasets
from stepgrid.drivers.vector_search.datasets import hdf5_file, neighbours, point_generator
from stepgrid.drivers.vector_search.datasets.dataset import Dataset
from stepgrid.drivers.vector_search.datasets.hdf5_file import DatasetError
from stepgrid.drivers.vector_search.datasets.shape import Shape, shape_of
from stepgrid.host.files import make_folder, remove_tree, sync_tree
from stepgrid.host.locks import locked
from stepgrid.language.files import checksum

REVISION = 1  # of what is kept


def get(asked: str | Mapping[str, Any], file: Path | None, cache: Path) -> Dataset:
    """`file`: of a data set that is one."""
    shape = shape_of(asked)
    digest = _digest(shape, file)
    make_folder(cache)
    with locked(cache / f"{digest}.lock"):  # a process that dies frees it: the next one begins again
        if not (cache / digest).is_dir():
            _publish(_made(shape, file), cache, digest)
    return datasets.load(cache / digest)


def _digest(shape: Shape | None, file: Path | None) -> str:
    if shape is not None:
        made_of: Any = [point_generator.REVISION, asdict(shape)]
    elif file is not None and file.is_file():
        made_of = checksum(str(file))
    else:
        raise DatasetError(f"there is no file {file}")
    text = json.dumps([REVISION, neighbours.MOST, made_of], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:20]


def _made(shape: Shape | None, file: Path | None) -> Dataset:
    if shape is not None:
        return datasets.make(*point_generator.points(shape), shape.distance)
    assert file is not None
    return datasets.make(*hdf5_file.read(file))


def _publish(dataset: Dataset, cache: Path, digest: str) -> None:
    for leftover in cache.glob(f".{digest}.*"):  # of one that was killed: only we hold the lock
        remove_tree(leftover)
    staged = cache / f".{digest}.{os.getpid()}"
    staged.mkdir()
    datasets.save(dataset, staged)
    sync_tree(staged)
    os.rename(staged, cache / digest)
