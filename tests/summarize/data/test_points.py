"""Points by their builds: a family means its versions, but a build that has the name means itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from stepgrid.summarize.data.points import choose_points
from tests.summarize.made import point, run

ENGINES = ["innodb", "innodb-compressed", "myrocks"]


@pytest.mark.parametrize(
    ("builds", "wanted", "names"),
    [
        (["innodb-5.7", "innodb-8.0", "myrocks"], "innodb", ["innodb-5.7", "innodb-8.0"]),
        (ENGINES, "innodb", ["innodb"]),
        (ENGINES, ENGINES[1:], ENGINES[1:]),
    ],
)
def test_a_build_or_its_family(builds: Sequence[str], wanted: object, names: Sequence[str]) -> None:
    points = [replace(point(run(name, 0, 1.0)), labels={"build": name}) for name in builds]
    assert [chosen.labels["build"] for chosen in choose_points(points, {"build": wanted})] == names


def test_labels_by_value_places_of_a_live_grid_and_points_that_an_axis_does_not_touch() -> None:
    search = replace(point(run("x", 0, 1.0)), step="search", labels={"ef": "10", "clients": "1"})
    load = replace(point(run("x", 0, 1.0)), step="load", labels={})
    points = [search, load]
    assert choose_points(points, {"ef": 10}) == points
    assert choose_points(points, {"ef": "20"}) == [load]
    assert choose_points(points, {"step": "search[ef=10,clients=1]"}) == [search]
    assert choose_points(points, {"step": ["search[ef=20]", "load"]}) == [load]
