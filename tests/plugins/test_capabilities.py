from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plugins.engine import release_capabilities, release_numbers

SINCE = {"old": (5, 0), "new": (9, 10)}


def test_releases_compare_number_by_number() -> None:
    assert release_numbers("9.10") > release_numbers("9.9.3") > release_numbers("9.9")
    assert release_numbers("v7.8.3-2+b1") == (7, 8, 3)
    assert release_numbers("main") == ()


def test_a_capability_is_there_from_its_first_release() -> None:
    assert release_capabilities("4.9", SINCE) == release_capabilities("main", SINCE) == frozenset()
    assert release_capabilities("5.0", SINCE) == release_capabilities("9.9.3", SINCE) == {"old"}
    assert release_capabilities("9.10", SINCE) == {"old", "new"}


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_a_later_release_can_all_that_an_earlier_one_can(one: list[int], other: list[int]) -> None:
    earlier, later = sorted([one, other])
    found = [release_capabilities(".".join(map(str, numbers)), SINCE) for numbers in (earlier, later)]
    assert found[0] <= found[1]
