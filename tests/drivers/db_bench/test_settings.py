from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from stepgrid.plugins.settings import Quantity
from stepgrid_databases.drivers.db_bench.settings import Settings


def test_defaults() -> None:
    assert Settings(benchmarks=("fillseq",), keys=100).model_dump(mode="json") == {
        "benchmarks": ["fillseq"],
        "keys": 100,
        "threads": 1,
        "duration": None,
        "reads": None,
        "writes": None,
        "write_rate": None,
        "fresh": False,
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("keys", "count"),
        ("threads", "count"),
        ("reads", "count"),
        ("writes", "count"),
        ("duration", "duration"),
        ("write_rate", "rate"),
    ],
)
def test_each_number_says_what_it_is_of(name: str, kind: Any) -> None:
    assert Quantity(kind) in Settings.model_fields[name].metadata


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": 0}, "Input should be greater than or equal to 1"),
        ({"keys": True}, "Input should be a valid integer"),
        ({"keys": "100"}, "Input should be a valid integer"),
        ({"threads": 0}, "Input should be greater than or equal to 1"),
        ({"duration": 0.0}, "Input should be greater than or equal to 1"),
        ({"duration": 1.5}, "Input should be a multiple of 1"),
        ({"fresh": "yes"}, "Input should be a valid boolean"),
        ({"benchmarks": ()}, "at least one benchmark is needed"),
        ({"benchmarks": ("fillseq,stats",)}, "String should match pattern '^[A-Za-z0-9_]+$'"),
        ({"benchmarks": ("--db=/",)}, "String should match pattern '^[A-Za-z0-9_]+$'"),
        ({"value_size": 400}, "Extra inputs are not permitted"),
    ],
)
def test_what_it_refuses(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"benchmarks": ("fillseq",), "keys": 100, **change})
    assert [error["msg"] for error in caught.value.errors()] == [message]
