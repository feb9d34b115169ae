import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import polygamma

from compiler.summarize.noise import Noise, Spread, _inverse_trigamma, noise

SPREADS = st.lists(st.builds(Spread, st.floats(1e-8, 1e2), st.integers(1, 5)), min_size=1, max_size=20)


@given(SPREADS)
def test_no_comparison_is_taken_for_quieter_than_it_is(family):
    assert all(found.variance >= own.variance * (1 - 1e-12) for own, found in zip(family, noise(family), strict=True))


@given(SPREADS)
def test_others_only_ever_add_freedom(family):
    total = sum(each.freedom for each in family)
    found = noise(family)
    assert all(own.freedom - 1e-9 <= each.freedom <= total + 1e-9 for own, each in zip(family, found, strict=True))


def test_alone_it_is_its_own():
    assert noise([Spread(4.0, 2)]) == [Noise(4.0, 2)]


def test_equal_variances_of_a_large_table_are_pooled():
    found = noise([Spread(1.0, 2, number) for number in range(20)])
    assert found == [Noise(1.0, 40.0)] * 20


def test_variances_that_differ_are_pooled_less():
    generator = np.random.default_rng(2)
    family = [Spread(float(scale * generator.chisquare(2) / 2), 2) for scale in [1.0] * 30 + [100.0] * 10]
    found = noise(family)
    assert all(2 < each.freedom < 10 for each in found)


def test_variances_drawn_from_a_known_prior_give_it_back():
    """s0 = 3, d0 = 8: sigma2 = d0 s0 / chi2(d0), s2 = sigma2 chi2(d) / d."""
    generator = np.random.default_rng(1)
    sigma = 8 * 3.0 / generator.chisquare(8, 4000)
    family = [Spread(float(s), 4) for s in sigma * generator.chisquare(4, 4000) / 4]
    assert noise(family)[0].freedom == pytest.approx(12, rel=0.1)


@pytest.mark.parametrize("value", [1e-3, 0.1, 1.0, 1.6449340668, 30.0])
def test_inverse_trigamma(value):
    assert float(polygamma(1, _inverse_trigamma(value))) == pytest.approx(value)


def test_loads_that_agree_to_the_digit_do_not_stop_a_large_table():
    found = noise([Spread(0.0, 2)] * 19 + [Spread(1.0, 2)])
    assert found[-1] == Noise(1.0, 2)
    assert all(math.isfinite(each.variance) for each in found)
