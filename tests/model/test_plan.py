"""Loads until a comparison is sure, and labels of stages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.plan import ALPHA, LOOK_LEVELS, AdaptiveRepeat, stage_label

LIMITS = st.tuples(st.integers(2, 100), st.integers(2, 100)).map(sorted)


def test_looks_grow_by_a_quarter():
    assert AdaptiveRepeat(3, 12).looks == (3, 4, 5, 7, 9, 12)
    assert AdaptiveRepeat(5, 5).looks == (5,)
    assert [AdaptiveRepeat(3, 12).next_look(loads) for loads in (1, 3, 5, 6, 9, 12, 40)] == [3, 4, 7, 7, 12, None, None]


@given(LIMITS)
def test_looks_go_from_the_least_to_the_most(limits):
    looks = AdaptiveRepeat(*limits).looks
    assert [looks[0], looks[-1]] == limits
    assert list(looks) == sorted({*looks})
    assert len(looks) <= len(LOOK_LEVELS)


@given(LIMITS)
def test_more_looks_have_a_lower_level_and_spend_no_less_in_all(limits):
    found, further = AdaptiveRepeat(*limits), AdaptiveRepeat(limits[0], 100)
    assert further.level <= found.level <= ALPHA <= len(found.looks) * found.level


def test_a_goal_in_words():
    assert AdaptiveRepeat(3, 12).goal == "until decided"
    assert AdaptiveRepeat(3, 12, 0.025).goal == "until ± 2.5 %"


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        (["load", "settle"], "load, settle"),
        ([f"s{number}" for number in range(12)], "s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11"),
        ([f"s{number}" for number in range(43)], "s0, s1, s2, … s42 (43 steps)"),
    ],
)
def test_of_many_steps_the_first_and_the_last(steps, name):
    assert stage_label(steps) == name
