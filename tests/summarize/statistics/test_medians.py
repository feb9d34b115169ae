import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stepgrid.summarize.statistics.medians import interval

LOADS = st.lists(st.floats(1e-3, 1e6), min_size=2, max_size=12)


def test_of_six_loads_it_is_the_lowest_and_the_highest():
    found = interval([5.0, 1.0, 4.0, 2.0, 6.0, 3.0])
    assert (found.value, found.low, found.high, found.exact) == (3.5, 1.0, 6.0, True)


@pytest.mark.parametrize("loads", range(6, 40))
def test_it_is_the_interval_of_the_quantile_test(loads):
    figures = np.random.default_rng(loads).lognormal(size=loads)
    found, expected = interval(figures.tolist()), stats.quantile_test(figures, p=0.5).confidence_interval(0.95)
    assert (found.low, found.high) == (expected.low, expected.high)


def test_of_few_loads_it_is_students_of_the_logarithms():
    found = interval([100.0, 110.0, 121.0])
    low, high = stats.ttest_1samp(np.log([100.0, 110.0, 121.0]), 0).confidence_interval(0.95)
    assert (found.value, found.exact) == (pytest.approx(110.0), False)
    assert (found.low, found.high) == (pytest.approx(np.exp(low)), pytest.approx(np.exp(high)))


@pytest.mark.parametrize("loads", [[], [100.0], [100.0, 0.0]])
def test_too_little_for_one(loads):
    assert interval(loads) is None


@given(LOADS, st.randoms(), st.floats(1e-2, 1e2))
def test_neither_the_order_nor_the_unit_matters(loads, chance, scale):
    shuffled = [load * scale for load in loads]
    chance.shuffle(shuffled)
    one, other = interval(loads), interval(shuffled)
    assert other.value == pytest.approx(one.value * scale)
    assert (other.low, other.high) == (pytest.approx(one.low * scale), pytest.approx(one.high * scale))


def test_of_six_loads_a_load_of_0_is_one_of_them():
    found = interval([5.0, 0.0, 4.0, 2.0, 6.0, 3.0])
    assert (found.low, found.high) == (0.0, 6.0)
