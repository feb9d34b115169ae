from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.plugins.drivers import driver

NAME = "fashion-mnist-784-euclidean"
SEARCH = {"action": "search", "dataset": NAME}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"action": "load"}, ("dataset", "`load` needs `dataset`")),
        ({"action": "search"}, ("dataset", "`search` needs `dataset`")),
        ({"action": "index"}, ("m", "`index` needs `m`")),
        (
            {**SEARCH, "dataset": "fashion-mnist"},
            (
                "dataset",
                "a data set is named like fashion-mnist-784-euclidean, or is {generated: {rows: …, dimensions: …}}",
            ),
        ),
        ({**SEARCH, "k": 0}, ("k", "Input should be greater than or equal to 1")),
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
    assert kept("vector_search", {"action": "index", **params}) == {"action": "index", "m": 16, "ef_construction": 64}
    assert set(kept("vector_search", {**SEARCH, **params})) == {"action", "dataset", "ef_search", "clients", "k"}


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({"action": "load", "dataset": {"generated": {"rows": 4000, "dimensions": 8}}}, 2.0),
        ({"action": "load", "dataset": NAME}, 30.0),
        ({"action": "index", "m": 8}, 120.0),
        (SEARCH, 60.0),
        ({**SEARCH, "dataset": {"generated": {"rows": 9, "dimensions": 8, "queries": 500}}, "runs": 2}, 2.0),
    ],
)
def test_estimate(given: dict[str, Any], seconds: float) -> None:
    found = driver("vector_search")
    settings = found.settings_model().model_validate(given)
    assert found.estimate(settings.model_dump(mode="json")) == pytest.approx(seconds)
