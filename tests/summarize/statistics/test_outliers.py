import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.statistics.confidence_intervals import Sample
from stepgrid.summarize.statistics.outliers import outliers

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
