import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.collect.series import FEWEST_STEADY, steady_state


def series(seconds, seed=3, noise=0.05):
    return 1000 * (1 + np.random.default_rng(seed).normal(0, noise, seconds))


def test_noise_alone_is_steady():
    found = steady_state(series(300))
    assert found.holds
    assert found.mean == pytest.approx(1000, rel=0.01)


def test_the_start_is_never_before_the_warm_up_ends():
    values = series(300)
    values[:50] *= 0.5
    found = steady_state(values)
    assert found.holds
    assert 50 <= found.start < 150


def test_a_series_that_falls_all_the_time_has_none():
    found = steady_state(series(300) * np.linspace(1.2, 0.8, 300))
    assert not found.holds
    assert found.change < -0.05


def test_a_step_in_the_second_half_is_seen():
    values = series(600)
    values[400:] *= 0.7
    assert not steady_state(values).holds


def test_a_small_drift_is_none_however_clear():
    found = steady_state(1000 + np.linspace(0, 20, 300))
    assert found.chance < 1e-6
    assert found.holds


def test_regular_stalls_are_steady():
    values = series(300)
    values[::30] = 10
    assert steady_state(values).holds


@pytest.mark.parametrize("values", [[], [1.0] * (FEWEST_STEADY - 1), [0.0] * FEWEST_STEADY])
def test_too_little_to_tell(values):
    assert steady_state(values) is None


def test_few_series_of_noise_are_refused():
    """Dependent seconds, too: an AR(1) of 0.6 at 10 %."""
    generator, refused = np.random.default_rng(7), 0
    for _ in range(300):
        noise = generator.normal(0, 0.08, 300)
        for at in range(1, 300):
            noise[at] += 0.6 * noise[at - 1]
        refused += not steady_state(1000 * (1 + noise)).holds
    assert refused <= 300 * 0.03


@given(st.integers(0, 50), st.floats(1e-3, 1e6))
def test_the_unit_does_not_matter(seed, scale):
    one, other = steady_state(series(90, seed)), steady_state(series(90, seed) * scale)
    assert (one.start, one.holds) == (other.start, other.holds)
    assert other.mean == pytest.approx(one.mean * scale)
    assert other.change == pytest.approx(one.change, abs=1e-9)
