from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.plugins.registry import driver


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sql": ()}, ("sql", "at least one statement is needed")),
        ({"sql": (" ",)}, ("sql", r"String should match pattern '\S'")),
        ({"sql": "select 1"}, ("sql", "Input should be a valid tuple")),
        ({"sql": ("select 1",), "timeout": 0.0}, ("timeout", "Input should be greater than 0")),
        (
            {"sql": ("select 1",), "storage_engine": "a b"},
            ("storage_engine", "String should match pattern '^[A-Za-z0-9_]+$'"),
        ),
    ],
)
def test_what_it_refuses(refused: Callable[..., Any], given: dict[str, Any], said: tuple[str, str]) -> None:
    assert refused("sql", given) == [said]


def test_estimate_and_seed() -> None:
    found = driver("sql")
    assert found.estimate({"sql": ["a", "b", "c"], "timeout": 600.0}) == 3.0
    assert found.estimate({"sql": ["a", "b", "c"], "timeout": 2.0}) == 2.0
    assert found.seed_key({"sql": ["a"]}) == found.seed_key({"sql": ["b"]})
