from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plugins.capabilities import reached, release

SINCE = {"old": (5, 0), "new": (9, 10)}


def test_releases_compare_number_by_number() -> None:
    assert release("9.10") > release("9.9.3") > release("9.9")
    assert release("v7.8.3-2+b1") == (7, 8, 3)
    assert release("main") == ()


def test_a_capability_is_there_from_its_first_release() -> None:
    assert reached("4.9", SINCE) == reached("main", SINCE) == frozenset()
    assert reached("5.0", SINCE) == reached("9.9.3", SINCE) == {"old"}
    assert reached("9.10", SINCE) == {"old", "new"}


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_a_later_release_can_all_that_an_earlier_one_can(one: list[int], other: list[int]) -> None:
    earlier, later = sorted([one, other])
    found = [reached(".".join(map(str, numbers)), SINCE) for numbers in (earlier, later)]
    assert found[0] <= found[1]
