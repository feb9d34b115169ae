"""Points by the names of their builds: a family means its versions, but a build that has the name means itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from stepgrid.summarize.data.points import choose_points
from tests.summarize.made import point, run


@pytest.mark.parametrize(
    ("builds", "said", "found"),
    [
        (["innodb-5.7", "innodb-8.0", "myrocks"], "innodb", ["innodb-5.7", "innodb-8.0"]),
        (["innodb", "innodb-compressed", "myrocks"], "innodb", ["innodb"]),
        (
            ["innodb", "innodb-compressed", "myrocks"],
            ["innodb-compressed", "myrocks"],
            ["innodb-compressed", "myrocks"],
        ),
    ],
)
def test_a_build_or_its_family(builds: Sequence[str], said: object, found: Sequence[str]) -> None:
    points = [replace(point(run(name, 0, 1.0)), labels={"build": name}) for name in builds]
    assert [each.labels["build"] for each in choose_points(points, {"build": said})] == found
