from __future__ import annotations

import json

import pytest

from stepgrid.summarize.comparisons.starting_state import StartingState
from stepgrid.summarize.data.points import Point
from tests.summarize.made import point, run

GIB = 2**30


def arm(name: str) -> Point:
    return point(*(run(name, load, 100.0) for load in (1, 2, 3)))


def starts(name: str, size: float, files: int | None = 40, resident: float | None = None) -> dict[str, dict[str, str]]:
    known = {"bytes": size, "files": files, "resident": resident}
    said = {key: str(int(value)) for key, value in known.items() if value is not None}
    return {f"s-{name}-{load}-0/1": said for load in (1, 2, 3)}


def marks(*known: dict[str, dict[str, str]], again: bool = True) -> list[str]:
    every = {place: found for each in known for place, found in each.items()}
    return list(StartingState(every).marks(arm("a"), arm("b"), again))


def test_another_size_of_arms_that_share_their_loads() -> None:
    found = (starts("a", 1.2 * GIB, 34), starts("b", 1.5 * GIB, 51))
    assert marks(*found) == ["began from 1.2 GiB in 34 files, the base from 1.5 GiB in 51 files"]
    assert marks(*found, again=False) == [], "their loads may differ by what is compared"


def test_another_share_in_the_page_cache() -> None:
    found = (starts("a", GIB, resident=0.12 * GIB), starts("b", GIB, resident=0.8 * GIB))
    assert marks(*found) == marks(*found, again=False) == [
        "began with 12 % of its database in the page cache, the base with 80 %"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "found",
    [
        (starts("a", GIB, 40, 0.5 * GIB), starts("b", 1.01 * GIB, 40, 0.55 * GIB)),
        (starts("a", GIB, None), starts("b", GIB, 40, 0.5 * GIB)),
        (starts("a", 0, 0, 0), starts("b", 0, 0, 0)),
        (starts("a", GIB),),
        (),
    ],
)
def test_nothing_is_told_of_what_is_alike_or_not_known(found: tuple[dict[str, dict[str, str]], ...]) -> None:
    assert marks(*found) == []


def test_what_was_said_before_each_step() -> None:
    """Of the step at this place in its stage, and no other one."""
    arms = {"a": 48_000, "b": 12}
    said = {
        f"s-{name}-{load}-0/1/{place}": {"state": json.dumps({"history_list_length": count if place == 0 else 7})}
        for name, count in arms.items()
        for load in (1, 2, 3)
        for place in (0, 1)
    }
    assert list(StartingState({}, said).marks(arm("a"), arm("b"), False)) == [
        "began with 48,000 transactions in the history list, the base with 12"
    ]
