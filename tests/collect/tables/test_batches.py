from pathlib import Path

import pytest

from stepgrid.collect.tables import parts
from stepgrid.collect.tables.parts import batches
from stepgrid.model.plan import PlannedStage
from stepgrid.model.status import Result


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    monkeypatch.setattr(parts, "MOST", 3)
    monkeypatch.setattr(parts, "SECONDS", 100.0)


def together(*results):
    """The seconds of the steps of each, batch by batch."""
    found = [Result(Path(), steps=tuple({"seconds": seconds} for seconds in steps)) for steps in results]
    stage = PlannedStage("s-1", "t", "b-1", None, (), 0, 0, "h-1", (), 1.0, 0)
    return [
        [[step["seconds"] for step in result.steps] for _, result in some]
        for some in batches((stage, result) for result in found)
    ]


def test_none():
    assert together() == []


def test_many_short_ones_by_their_number():
    assert together([1], [2], [3], [4]) == [[[1], [2], [3]], [[4]]]


def test_long_ones_by_their_seconds():
    assert together([60, 20], [20], [1]) == [[[60, 20], [20]], [[1]]]


def test_one_that_is_longer_alone():
    assert together([1], [500], [2]) == [[[1]], [[500]], [[2]]]


def test_seconds_that_are_not_known_are_none():
    assert together([None], ["soon"], [100]) == [[[None], ["soon"], [100]]]
