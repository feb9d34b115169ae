import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stepgrid.summarize.statistics.confidence_intervals import Sample
from stepgrid.summarize.statistics.robust_statistics import median_interval, outliers

LOADS = st.lists(st.floats(1e-3, 1e6), min_size=2, max_size=12)


def test_of_six_loads_it_is_the_lowest_and_the_highest():
    found = median_interval([5.0, 1.0, 4.0, 2.0, 6.0, 3.0])
    assert (found.value, found.low, found.high, found.exact) == (3.5, 1.0, 6.0, True)


@pytest.mark.parametrize("loads", range(6, 40))
def test_it_is_the_interval_of_the_quantile_test(loads):
    figures = np.random.default_rng(loads).lognormal(size=loads)
    found, expected = median_interval(figures.tolist()), stats.quantile_test(figures, p=0.5).confidence_interval(0.95)
    assert (found.low, found.high) == (expected.low, expected.high)


def test_of_few_loads_it_is_students_of_the_logarithms():
    found = median_interval([100.0, 110.0, 121.0])
    low, high = stats.ttest_1samp(np.log([100.0, 110.0, 121.0]), 0).confidence_interval(0.95)
    assert (found.value, found.exact) == (pytest.approx(110.0), False)
    assert (found.low, found.high) == (pytest.approx(np.exp(low)), pytest.approx(np.exp(high)))


@pytest.mark.parametrize("loads", [[], [100.0], [100.0, 0.0]])
def test_too_little_for_one(loads):
    assert median_interval(loads) is None


@given(LOADS, st.randoms(), st.floats(1e-2, 1e2))
def test_neither_the_order_nor_the_unit_matters(loads, chance, scale):
    shuffled = [load * scale for load in loads]
    chance.shuffle(shuffled)
    one, other = median_interval(loads), median_interval(shuffled)
    assert other.value == pytest.approx(one.value * scale)
    assert (other.low, other.high) == (pytest.approx(one.low * scale), pytest.approx(one.high * scale))


def test_of_six_loads_a_load_of_0_is_one_of_them():
    found = median_interval([5.0, 0.0, 4.0, 2.0, 6.0, 3.0])
    assert (found.low, found.high) == (0.0, 6.0)


QUIET = Sample((0.0, 0.01, -0.01, 0.005, -0.005), loads=(0, 1, 2, 3, 4))
LOGS = st.lists(st.floats(-2, 2), min_size=3, max_size=8)


def test_a_load_far_off_is_told_with_the_ratio_without_it():
    odd = Sample((0.0, 0.01, -0.01, 0.5), loads=(0, 1, 2, 4))
    nothing, [found] = outliers([QUIET, odd])
    assert nothing == ()
    assert found.load == 4
    assert found.alone == pytest.approx(math.exp(0.5))
    assert found.without == pytest.approx(1.0)
    assert found.z > 3.5


def test_a_load_that_is_a_little_off_does_no_harm():
    assert outliers([QUIET, Sample((0.0, 0.0001, -0.0001, 0.019), loads=(0, 1, 2, 3))]) == [(), ()]


@pytest.mark.parametrize("logs", [(0.0, 0.5), (0.0, 0.001, 0.5)])
def test_few_loads_do_not_say_what_is_far(logs):
    assert outliers([Sample(logs, loads=tuple(range(len(logs))))]) == [()]


@given(st.lists(LOGS, min_size=1, max_size=5), st.floats(-3, 3))
def test_exchanging_the_arms_or_another_ratio_flags_the_same_loads(tables, shift):
    def flagged(change):
        samples = [Sample(tuple(map(change, logs)), loads=tuple(range(len(logs)))) for logs in tables]
        return [[each.load for each in found if abs(abs(each.z) - 3.5) > 0.01] for found in outliers(samples)]

    def near(logs):
        middle = sorted(logs)[len(logs) // 2]
        return any(abs(abs(log - middle) - 0.02) < 1e-6 for log in logs)

    if not any(map(near, tables)):
        assert flagged(lambda log: log) == flagged(lambda log: -log)
