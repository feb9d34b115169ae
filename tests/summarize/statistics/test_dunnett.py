import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from stepgrid.summarize.statistics.dunnett import critical, criticals

ALPHA = 0.05
ARMS = st.lists(st.integers(1, 12), min_size=1, max_size=4).map(tuple)
FREEDOM = st.floats(1, 60)


@pytest.mark.parametrize("freedom", [1, 2, 4.5, 30])
def test_of_one_comparison_it_is_students(freedom):
    assert critical((1,), freedom, True, ALPHA) == pytest.approx(stats.t.ppf(0.975, freedom))


@pytest.mark.parametrize(("arms", "loads"), [(2, 3), (4, 3), (4, 10), (9, 5)])
def test_with_one_variance_it_is_scipys_dunnett(arms, loads):
    figures = np.random.default_rng(1).normal(size=(arms + 1, loads))
    result = stats.dunnett(*figures[1:], control=figures[0], rng=np.random.default_rng(2))
    interval = result.confidence_interval(0.95)
    error = np.sqrt(figures.var(axis=1, ddof=1).mean() * 2 / loads)
    expected = (interval.high - interval.low).mean() / 2 / error
    assert critical((arms,), (arms + 1) * (loads - 1), True, ALPHA) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("arms", [3, 8])
def test_of_bases_and_variances_of_their_own_it_is_sidaks(arms):
    expected = stats.t.ppf((1 + 0.95 ** (1 / arms)) / 2, 6)
    assert critical((1,) * arms, 6, False, ALPHA) == pytest.approx(expected, rel=1e-3)


@settings(max_examples=25)
@given(ARMS, FREEDOM)
def test_it_lies_between_one_comparison_and_bonferroni(arms, freedom):
    for common in (True, False):
        found = critical(arms, freedom, common, ALPHA)
        assert stats.t.ppf(1 - ALPHA / 2, freedom) <= found * 1.001
        assert found <= stats.t.ppf(1 - ALPHA / 2 / sum(arms), freedom) * 1.001


@settings(max_examples=25)
@given(ARMS, FREEDOM)
def test_more_arms_and_less_knowledge_reach_farther(arms, freedom):
    found = critical(arms, freedom, False, ALPHA)
    assert found <= critical((*arms, 1), freedom, False, ALPHA) * 1.001
    assert found >= critical(arms, freedom * 2, False, ALPHA) * 0.999
    assert found >= critical(arms, freedom, True, ALPHA) * 0.999


def test_between_common_and_own_variances_it_is_in_proportion():
    freedom = np.array([4.2, 3.999, 4.2, 300.0])
    found = criticals([3, 1], freedom, np.array([0.0, 1.0, 0.5, 0.0]), ALPHA)
    assert found[0] == critical((1, 3), 4.0, False, ALPHA)
    assert found[1] == critical((1, 3), 4.0, True, ALPHA)
    assert found[2] == pytest.approx((found[0] + found[1]) / 2)
    assert found[3] == critical((1, 3), 200.0, False, ALPHA)
