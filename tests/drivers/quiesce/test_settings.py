from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.plugins.registry import driver


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"timeout": -1.0}, ("timeout", "Input should be greater than 0")),
        ({"quiet": "5s"}, ("quiet", "Input should be a valid number")),
        ({"sleep": 600.0}, ("sleep", "Extra inputs are not permitted")),
    ],
)
def test_what_it_refuses(refused: Callable[..., Any], given: dict[str, Any], said: tuple[str, str]) -> None:
    assert refused("quiesce", given) == [said]


def test_nothing_need_be_said(kept: Callable[..., Any]) -> None:
    assert kept("quiesce", {}) == {}
    assert driver("quiesce").estimate({"timeout": 1200.0, "quiet": 5.0}) == 10.0
    assert driver("quiesce").estimate({"timeout": 4.0, "quiet": 5.0}) == 4.0
