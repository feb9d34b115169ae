"""Each published file is raw, or it is made again to the byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from stepgrid.plugins.registry import IMPORTERS
from stepgrid.transfer.published import read_folder, write_summaries

RAW: Mapping[str, tuple[str, ...]] = {  # what summaries are made of
    "sysbench": ("sb.o.*", "sb.io.*", "sb.vm.*", "qps.abs.*"),
    "db_bench": ("stdout-*", "sum.byrx.dop1.txt"),  # a cut whose rows are in no summary that is there
    "insert_benchmark": ("o.sum.t.*", "o.getmin.c2.cached.rx"),
    "vector_search": ("o.plot.*",),
}


@pytest.mark.parametrize("kind", IMPORTERS.names())
def test_every_published_file(kind: str, published: Callable[[str], Path], tmp_path: Path) -> None:
    folder = published(kind)
    found = read_folder(kind, folder)
    write_summaries(tmp_path, found)
    there = {path.name: path.read_bytes() for path in folder.iterdir()}
    made = {name: data for name, data in there.items() if not any(fnmatchcase(name, raw) for raw in RAW[kind])}
    assert made
    assert {name: (tmp_path / name).read_bytes() for name in made} == made


def test_no_other_kind_was_published(published: Callable[[str], Path]) -> None:
    assert {path.name for path in published("").iterdir()} == set(IMPORTERS.names())
