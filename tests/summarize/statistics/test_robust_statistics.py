import math

import numpy as np
import pytest
from scipy import stats

from stepgrid.summarize.statistics.confidence_intervals import Sample, median_interval, outliers

QUIET = (0.0, 0.01, -0.01, 0.005, -0.005)


def samples(*rows):
    return [Sample(row, loads=tuple(range(len(row)))) for row in rows]


def test_of_six_loads_it_is_the_lowest_and_the_highest():
    assert median_interval([5.0, 0.0, 4.0, 2.0, 6.0, 3.0]) == (0.0, 6.0)


@pytest.mark.parametrize("loads", [6, 7, 8, 9, 12, 20, 39])
def test_it_is_the_interval_of_the_quantile_test(loads):
    figures = np.random.default_rng(loads).lognormal(size=loads)
    interval, expected = median_interval(figures.tolist()), stats.quantile_test(figures, p=0.5).confidence_interval()
    assert interval == (expected.low, expected.high)


def test_of_few_loads_it_is_students_of_the_logarithms():
    interval = median_interval([100.0, 110.0, 121.0])
    ends = stats.ttest_1samp(np.log([100.0, 110.0, 121.0]), 0).confidence_interval(0.95)
    assert interval == pytest.approx(tuple(np.exp(ends)))


@pytest.mark.parametrize("loads", [[], [100.0], [100.0, 0.0]])
def test_too_few_loads_have_no_interval(loads):
    assert median_interval(loads) is None


def test_a_load_far_off_has_the_ratio_without_it():
    none, [outlier] = outliers(samples(QUIET, (0.0, 0.01, -0.01, 0.5)))
    assert none == ()
    assert outlier.load == 3
    assert (outlier.alone, outlier.without) == pytest.approx((math.exp(0.5), 1.0))


@pytest.mark.parametrize(
    "rows",
    [(QUIET, (0.0, 0.0001, -0.0001, 0.019)), ((0.0, 0.5),), ((0.0, 0.001, 0.5),)],
    ids=["harmless", "two loads", "few distances"],
)
def test_no_load_is_far_off(rows):
    assert outliers(samples(*rows)) == [()] * len(rows)
