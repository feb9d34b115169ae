from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.plugins.registry import driver
from stepgrid_databases.drivers.linkbench.settings import MIX

REQUEST = {"action": "request", "ids": 100, "duration": 10.0}
NEWER = {
    "addlink": 5.35038,
    "deletelink": 0.98401,
    "updatelink": 4.75589,
    "countlink": 4.27898,
    "getlink": 12.14725,
    "getlinklist": 22.57039,
    "getnode": 43.9869,
    "addnode": 2.61198,
    "updatenode": 3.06256,
    "deletenode": 0.25166,
}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"action": "load"}, ("ids", "`load` needs `ids`")),
        ({"action": "request", "ids": 5}, ("duration", "`request` needs `duration`")),
        ({**REQUEST, "mix": {"getnode": 99.5}}, ("mix", "the mix sums to 99.5, not to 100")),
        ({**REQUEST, "mix": {"getnode": 101}}, ("mix", "Input should be less than or equal to 100")),
        (
            {**REQUEST, "mix": {"getnode": 110.0, "addnode": -10.0}},
            ("mix", "Input should be less than or equal to 100"),
        ),
        ({**REQUEST, "clients": 4}, ("clients", "Extra inputs are not permitted")),
    ],
)
def test_what_it_refuses(refused: Callable[..., Any], given: dict[str, Any], said: tuple[str, str]) -> None:
    assert refused("linkbench", given)[0] == said


def test_an_operation_that_there_is_not(refused: Callable[..., Any]) -> None:
    operations = "', '".join(list(MIX)[:-1])
    said = refused("linkbench", {**REQUEST, "mix": {"getnod": 100}})
    assert said == [("mix", f"Input should be '{operations}' or 'deletenode'")]


def test_the_published_mix_is_what_nothing_said_means(kept: Callable[..., Any]) -> None:
    assert math.fsum(MIX.values()) == pytest.approx(100, abs=1e-6)
    assert kept("linkbench", {**REQUEST, "mix": dict(MIX)}) == kept("linkbench", REQUEST) == REQUEST


def test_the_newer_mix_sums_to_100_within_its_decimals(kept: Callable[..., Any]) -> None:
    assert kept("linkbench", {**REQUEST, "mix": NEWER})["mix"] == NEWER
    as_text = {operation: str(share) for operation, share in NEWER.items()}
    assert kept("linkbench", {**REQUEST, "mix": as_text})["mix"] == NEWER


def test_requests_do_not_make_the_load_another(kept: Callable[..., Any]) -> None:
    load = {"action": "load", "ids": 100, "loaders": 8}
    assert kept("linkbench", {**load, "duration": 60.0, "requesters": 16, "mix": NEWER}) == load


def test_estimate() -> None:
    found = driver("linkbench")
    load, request = (
        found.settings_model().model_validate(given)
        for given in ({"action": "load", "ids": 1_000_000, "loaders": 5}, REQUEST)
    )
    assert found.estimate(load.model_dump(mode="json")) == pytest.approx(100.0)
    assert found.estimate(request.model_dump(mode="json")) == pytest.approx(10.0)
