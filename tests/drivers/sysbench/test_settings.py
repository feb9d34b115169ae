from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.plugins.registry import driver

QUERY = {"lua": "point_query", "rows": 1000, "duration": 10.0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"lua": "pint_query"},
            ("lua", "there is no such workload (did you mean `point_query`; a file of your own ends in .lua)"),
        ),
        ({"rows": 0}, ("rows", "Input should be greater than or equal to 1")),
        ({"duration": 1.5}, ("duration", "Input should be a multiple of 1")),
        ({"duration": None}, ("duration", "`point_query` needs `duration`, or `events`")),
        (
            {"distribution": "normal"},
            ("distribution", "Input should be 'uniform', 'zipfian', 'gaussian', 'pareto' or 'special'"),
        ),
        ({"prepared": 1}, ("prepared", "Input should be a valid boolean")),
        ({"covrd": True}, ("covrd", "Extra inputs are not permitted")),
        ({"rows": 2**31}, ("rows", "Input should be less than or equal to 2147483647")),
        ({"client": ""}, ("client", "String should have at least 1 character")),
        (
            {"lua": "x/ids.lua"},
            ("lua", "a file that comes with the workloads has this name: call it otherwise"),
        ),
        (
            {"lua": "a.lua", "arguments": {"-x": 1}},
            ("arguments", r"String should match pattern '^[A-Za-z][A-Za-z0-9_-]*$'"),
        ),
    ],
)
def test_what_it_refuses(refused: Callable[..., Any], change: dict[str, Any], said: tuple[str, str]) -> None:
    assert refused("sysbench", {**QUERY, **change}) == [said]


def test_a_classic_name_is_one_of_ours(kept: Callable[..., Any]) -> None:
    classic = {**QUERY, "lua": "oltp_point_select"}
    assert kept("sysbench", classic) == {**QUERY, "distribution": "special"}
    assert kept("sysbench", {**classic, "distribution": "uniform"}) == kept("sysbench", QUERY)


def test_events_do_instead_of_a_duration(kept: Callable[..., Any]) -> None:
    given = {"lua": "scan", "rows": 10, "events": 8}
    assert kept("sysbench", given) == given


def test_a_file_of_ones_own_may_use_everything(kept: Callable[..., Any]) -> None:
    given = {"lua": "mine.lua", "rows": 10, "range": 5, "covered": False, "duration": 1.0, "table_options": "x=y"}
    assert kept("sysbench", given) == given


def test_its_options_have_their_own_names(kept: Callable[..., Any]) -> None:
    given = {"lua": "mine.lua", "rows": 10, "duration": 1.0, "arguments": {"skip_trx": True, "points": 5, "mode": "a"}}
    assert kept("sysbench", given) == given
    assert "arguments" not in kept("sysbench", {**given, "lua": "scan"})


def test_what_queries_are_given_does_not_make_the_load_another(kept: Callable[..., Any]) -> None:
    load = {"lua": "load", "rows": 10, "tables": 2, "storage_engine": "rocksdb"}
    queries = {"duration": 60.0, "range": 7, "index": "si", "prepared": False, "distribution": "zipfian"}
    assert kept("sysbench", {**load, **queries}) == kept("sysbench", load) == load


def test_a_range_is_of_those_that_have_one(kept: Callable[..., Any]) -> None:
    assert "range" not in kept("sysbench", {**QUERY, "range": 10})
    assert kept("sysbench", {**QUERY, "lua": "random_points", "range": 10})["range"] == 10


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({"lua": "load", "rows": 1_000_000, "tables": 8, "threads": 4}, 100.0),
        ({"lua": "load", "rows": 10}, 1.0),
        ({"lua": "scan", "rows": 10, "events": 5000}, 5.0),
        ({"lua": "scan", "rows": 10, "duration": 300.0}, 300.0),
    ],
)
def test_estimate(given: dict[str, Any], seconds: float) -> None:
    found = driver("sysbench")
    settings = found.settings_model().model_validate(given)
    assert found.estimate(settings.model_dump(mode="json")) == pytest.approx(seconds)
