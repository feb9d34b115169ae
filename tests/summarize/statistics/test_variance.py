import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.statistics.variance import FLOOR, Noise, Spread, noise

SPREADS = st.lists(st.builds(Spread, st.floats(0, 1e2), st.integers(1, 5)), min_size=1, max_size=20)


@given(SPREADS)
def test_no_comparison_is_taken_for_quieter_than_it_is(family):
    assert all(found.variance >= max(own.variance, FLOOR) for own, found in zip(family, noise(family), strict=True))


@given(SPREADS)
def test_the_others_never_count_for_more_than_its_own_loads(family):
    assert all(own.freedom <= each.freedom <= 2 * own.freedom for own, each in zip(family, noise(family), strict=True))


def test_alone_it_is_its_own():
    assert noise([Spread(4.0, 2)]) == [Noise(4.0, 2)]


def test_alike_they_share():
    assert noise([Spread(1.0, 2, number) for number in range(20)]) == [Noise(1.0, 4)] * 20


def test_below_the_mean_it_gets_the_mean_and_above_it_its_own():
    assert noise([Spread(1.0, 2), Spread(3.0, 2)]) == [Noise(2.0, 4), Noise(3.0, 4)]


def test_a_clearly_noisier_one_stands_alone():
    """F(2, 6) at 10 % is 3.46."""
    quiet = [Spread(1.0, 2)] * 3
    assert noise([*quiet, Spread(3.4, 2)])[3].freedom == 4
    assert noise([*quiet, Spread(3.5, 2)])[3] == Noise(3.5, 2)


def test_of_two_loads_it_takes_less_to_stand_alone():
    """F(1, 3) at 50 % is 0.585."""
    assert noise([*[Spread(1.0, 1)] * 3, Spread(0.6, 1)])[3] == Noise(0.6, 1)
    assert noise([*[Spread(1.0, 1)] * 3, Spread(0.5, 1)])[3] == Noise(0.875, 2)


def test_comparisons_with_one_base_count_for_less():
    assert noise([Spread(1.0, 2, "base")] * 2)[0].freedom == pytest.approx(4 / 1.25)


def test_loads_that_agree_to_the_digit_are_not_without_noise():
    assert noise([Spread(0.0, 2)]) == [Noise(FLOOR, 2)]
    assert noise([Spread(0.0, 2)] * 3 + [Spread(1.0, 2)])[3] == Noise(1.0, 2)
