from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.plugins.registry import driver

NAME = "fashion-mnist-784-euclidean"
SEARCH = {"action": "search", "dataset": NAME}
INDEX = {"action": "index", "dataset": NAME}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"action": "load"}, ("dataset", "`load` needs `dataset`")),
        ({"action": "search"}, ("dataset", "`search` needs `dataset`")),
        ({"action": "index", "m": 4}, ("dataset", "`index` needs `dataset`")),
        ({**INDEX}, ("m", "an index by hnsw needs `m`")),
        ({**INDEX, "method": "ivfflat", "m": 4}, ("lists", "an index by ivfflat needs `lists`")),
        ({**INDEX, "method": "flat", "m": 4}, ("method", "Input should be 'hnsw' or 'ivfflat'")),
        (
            {**SEARCH, "dataset": "fashion-mnist"},
            (
                "dataset",
                "a data set is named like fashion-mnist-784-euclidean, is a file that ends with .hdf5, or is "
                "{generated: {rows: …, dimensions: …}}",
            ),
        ),
        ({**SEARCH, "k": 0}, ("k", "Input should be greater than or equal to 1")),
        ({**SEARCH, "k": 101}, ("k", "Input should be less than or equal to 100")),
        ({**SEARCH, "efsearch": 1}, ("efsearch", "Extra inputs are not permitted")),
    ],
)
def test_what_it_refuses(refused: Callable[..., Any], given: dict[str, Any], said: tuple[str, str]) -> None:
    assert refused("vector_search", given) == [said]


def test_a_generated_data_set_wants_counts(refused: Callable[..., Any]) -> None:
    shape = {"rows": "3KiB", "dimensions": 16}
    said = refused("vector_search", {**SEARCH, "dataset": {"generated": shape}})
    assert ("dataset", "expected a count such as 1000, 200k, 100M or 2B, found `3KiB`") in said


def test_counts_of_a_generated_data_set_may_be_text(kept: Callable[..., Any]) -> None:
    given = {**SEARCH, "dataset": {"generated": {"rows": "3k", "dimensions": "784"}}}
    assert kept("vector_search", given)["dataset"] == {"generated": {"rows": 3000, "dimensions": 784}}


def test_how_it_is_searched_makes_neither_load_nor_index_another(kept: Callable[..., Any]) -> None:
    params = {"dataset": NAME, "m": 16, "ef_construction": 64, "ef_search": 40, "clients": 8, "k": 100}
    assert kept("vector_search", {"action": "load", **params}) == {"action": "load", "dataset": NAME}
    index = {**INDEX, "m": 16, "ef_construction": 64}
    assert kept("vector_search", {"action": "index", **params}) == index
    assert set(kept("vector_search", {**SEARCH, **params})) == {"action", "dataset", "ef_search", "clients", "k"}


def test_what_another_kind_of_index_has_is_left_out(kept: Callable[..., Any]) -> None:
    params = {"m": 16, "ef_construction": 64, "lists": 100, "ef_search": 40, "probes": 10}
    assert kept("vector_search", {**INDEX, **params}) == {**INDEX, "m": 16, "ef_construction": 64}
    flat = {**INDEX, "method": "ivfflat", "lists": 100}
    assert kept("vector_search", {**INDEX, **params, "method": "ivfflat"}) == flat
    assert kept("vector_search", {**SEARCH, **params, "exact": True}) == {**SEARCH, "exact": True}


@pytest.mark.parametrize("dataset", ["random-s-100-angular", "own.hdf5", "data/own.h5", "gist-960-euclidean"])
def test_data_sets(kept: Callable[..., Any], dataset: str) -> None:
    assert kept("vector_search", {**SEARCH, "dataset": dataset})["dataset"] == dataset


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({"action": "load", "dataset": {"generated": {"rows": 4000, "dimensions": 8}}}, 2.0),
        ({"action": "load", "dataset": NAME}, 30.0),
        ({**INDEX, "m": 8}, 120.0),
        ({**SEARCH, "exact": True, "dataset": "random-s-100-euclidean"}, 5400.0),
        ({"action": "load", "dataset": "random-xs-20-angular"}, 4.5),
        (SEARCH, 60.0),
        ({**SEARCH, "dataset": {"generated": {"rows": 9, "dimensions": 8, "queries": 500}}, "runs": 2}, 2.0),
    ],
)
def test_estimate(given: dict[str, Any], seconds: float) -> None:
    found = driver("vector_search")
    settings = found.settings_model().model_validate(given)
    assert found.estimate(settings.model_dump(mode="json")) == pytest.approx(seconds)
