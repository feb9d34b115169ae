from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.plugins.registry import driver

QUERY = {"action": "query", "duration": 10.0}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"action": "load"}, ("rows", "`load` needs `rows`")),
        ({"action": "insert"}, ("rows", "`insert` needs `rows`")),
        ({"action": "query"}, ("duration", "`query` needs `duration`")),
        ({"action": "delete"}, ("action", "Input should be 'load', 'index', 'insert', 'query' or 'check'")),
        ({"action": "index", "indexes": 4}, ("indexes", "Input should be less than or equal to 3")),
        ({**QUERY, "query": "scan"}, ("query", "Input should be 'range' or 'point'")),
        ({**QUERY, "insert_rate": 0}, ("insert_rate", "Input should be greater than or equal to 1")),
        ({**QUERY, "inserts": 5}, ("inserts", "Extra inputs are not permitted")),
        ({**QUERY, "ends": "never"}, ("ends", "Input should be 'rows' or 'clock'")),
        ({"action": "index", "clients": 2, "tables": 3},
         ("tables", "3 tables for 2 clients: a client inserts into one table")),
        ({"action": "load", "rows": 1, "data_length_min": 30},
         ("data_length_max", "20 is below `data_length_min`, which is 30")),
    ],
)  # fmt: skip
def test_what_it_refuses(refused: Callable[..., Any], given: dict[str, Any], said: tuple[str, str]) -> None:
    assert refused("insert_benchmark", given) == [said]


def test_params_of_all_steps_reach_those_that_use_them(kept: Callable[..., Any]) -> None:
    params = {"rows": 5, "duration": 9.0, "deletes": True, "insert_rate": 100, "indexes": 2, "clients": 4}
    assert {action: set(kept("insert_benchmark", {"action": action, **params})) - {"action", "clients"} for action in
            ("load", "index", "insert", "query")} == {
        "load": {"rows"},
        "index": {"indexes"},
        "insert": {"rows", "deletes"},
        "query": {"duration", "deletes", "insert_rate", "indexes"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({"action": "load", "rows": 1_000_000, "clients": 2}, 40.0),
        ({"action": "index"}, 60.0),
        ({"action": "insert", "rows": 1_000_000}, 200.0),
        ({"action": "query", "duration": 1800.0}, 1800.0),
    ],
)
def test_estimate(given: dict[str, Any], seconds: float) -> None:
    found = driver("insert_benchmark")
    settings = found.settings_model().model_validate(given)
    assert found.estimate(settings.model_dump(mode="json")) == pytest.approx(seconds)
