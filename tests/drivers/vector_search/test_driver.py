from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepgrid.package import INTERPRETER
from stepgrid.plugins.driver import Context, RefusedError
from stepgrid.plugins.server import Access
from stepgrid_databases.drivers.vector_search import DRIVER, VectorSearch, failure

ACCESS = Access("postgres", Path("/s"), Path("/s/x"), 5432, "stepgrid", "secret", "stepgrid", "")


def made(tmp_path: Path, dataset: Any, **inputs: str) -> dict[str, Any]:
    given = {"action": "search", "dataset": dataset}
    settings = DRIVER.settings_model().model_validate(given).model_dump(mode="json")
    context = Context({}, "", tmp_path, tmp_path, 1, ACCESS, inputs=inputs, cache=tmp_path / "cache")
    found = DRIVER.command(settings, {}, context)
    assert found.argv == (*INTERPRETER, "stepgrid.drivers.vector_search")
    request: dict[str, Any] = json.loads(found.files["request.json"])
    return request


def test_what_the_client_is_told(tmp_path: Path) -> None:
    found = made(tmp_path, "random-xs-20-euclidean")
    assert (found["cache"], found["file"]) == (str(tmp_path / "cache"), None)
    assert found["settings"]["dataset"] == "random-xs-20-euclidean"


def test_a_file_is_read_where_it_lies(tmp_path: Path) -> None:
    for name, file in (("gist-960-euclidean", "gist-960-euclidean.hdf5"), ("a/own.hdf5", "a/own.hdf5")):
        assert made(tmp_path, name, **{file: "/data/own.hdf5"})["file"] == "/data/own.hdf5"


def test_a_published_data_set_that_is_not_here(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        made(tmp_path, "gist-960-euclidean")
    assert str(caught.value) == (
        "the data set `gist-960-euclidean` is not here: put the file gist-960-euclidean.hdf5 beside the spec, "
        "in the layout of ann-benchmarks"
    )


@pytest.mark.parametrize(
    ("dataset", "words", "listed"),
    [
        ("gist-960-euclidean", ["gist-960-euclidean.hdf5"], []),
        ("own.hdf5", ["own.hdf5"], ["own.hdf5"]),
        ("random-xs-20-angular", [], []),
        ({"generated": {"rows": 9, "dimensions": 2}}, [], []),
    ],
)
def test_which_files_are_part_of_what_a_step_is(dataset: Any, words: list[str], listed: list[str]) -> None:
    driver: Any = DRIVER
    assert (list(driver.words({"dataset": dataset})), list(driver.listed({"dataset": dataset}))) == (words, listed)


def test_the_complaint_is_what_was_said_last(tmp_path: Path) -> None:
    assert VectorSearch().complaint(tmp_path) is None
    (tmp_path / "stderr").write_text("a warning\n" + failure(ValueError("no\n such table")) + "\n")
    assert VectorSearch().complaint(tmp_path) == "vector search failed: no such table"
