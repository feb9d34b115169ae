"""Where an axis names the builds, arms are compared by it."""

from __future__ import annotations

from typing import Any

import pytest

from stepgrid.model.plan import Axis, Report
from stepgrid.plan.actions import arms

AXES = (Axis("build", ("my", "ma")), Axis("server", ("innodb", "maria", "rocks")), Axis("range", ("10", "100"), ("x",)))
CELLS = (
    {"build": "my", "server": "innodb"},
    {"build": "ma", "server": "maria"},
    {"build": "ma", "server": "rocks"},
)


def names(cells: Any = CELLS, **said: Any) -> list[str]:
    return [axis.name for axis in arms(AXES, cells, Report(**{"base": {"server": "innodb"}, **said}))]


def test_an_axis_that_names_the_builds_stands_for_them() -> None:
    assert names() == ["server", "range"]


@pytest.mark.parametrize(
    "said",
    [
        {"base": {"build": "my"}},
        {"tables": [{"rows": ["build"]}]},
        {"tables": [{"where": {"build": "my"}}]},
        {"claims": [{"expect": "qps(build='my') > 1"}]},
        {"claims": [{"expect": "qps() > 1", "where": {"build": "my"}}]},
    ],
)
def test_what_a_report_asks_for_stays(said: dict[str, Any]) -> None:
    assert names(**said) == ["build", "server", "range"]


def test_an_axis_of_its_own_stays() -> None:
    crossed = [{"build": build, "server": server} for build in ("my", "ma") for server in ("innodb", "rocks")]
    assert names(crossed) == ["build", "server", "range"]
    assert names(CELLS[1:]) == ["build", "server", "range"]  # one build: nothing that could be told
    assert names([{"build": "my"}, {"build": "ma", "server": "rocks"}]) == ["build", "server", "range"]
