"""All kinds: what a summary has otherwise than we do is explained, each reason under its own heading."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from stepgrid_published.importer import IMPORTERS
from stepgrid_published.results import read_folder, write_summaries

KINDS = IMPORTERS.names()
PAGE = Path(__file__).resolve().parents[2] / "docs/guides/legacy.md"


def test_an_unknown_kind_says_which_there_are():
    with pytest.raises(LookupError, match=r"^kind of published results `other` is not installed; `pip install "):
        IMPORTERS.get("other")


@pytest.mark.parametrize("name", KINDS)
def test_every_reason_is_a_heading_of_the_page(name, published):
    headings = {line.removeprefix("## ") for line in PAGE.read_text(encoding="utf-8").split("\n")}
    assert {each.why for each in read_folder(name, published(name)).differences} <= headings


RAW = {  # what summaries are made of
    "sysbench": ("sb.o.*", "sb.io.*", "sb.vm.*", "qps.abs.*"),
    "db_bench": ("stdout-*", "sum.byrx.dop1.txt"),  # a cut whose rows are in no summary that is there
    "insert_benchmark": ("o.sum.t.*", "o.getmin.c2.cached.rx"),
    "vector_search": ("o.plot.*",),
}


@pytest.mark.parametrize("kind", IMPORTERS.names())
def test_every_published_file(kind, published, tmp_path):
    folder = published(kind)
    found = read_folder(kind, folder)
    write_summaries(tmp_path, found)
    there = {path.name: path.read_bytes() for path in folder.iterdir()}
    made = {name: data for name, data in there.items() if not any(fnmatchcase(name, raw) for raw in RAW[kind])}
    assert made
    assert {name: (tmp_path / name).read_bytes() for name in made} == made
