import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.stopping_rule import HOPELESS, StoppingRule, chance, is_decided

RULE = StoppingRule(0.02)


def interval(ratio: float, error: float, loads: int = 3, freedom: float = 20.0, reach: float = 2.5) -> Interval:
    low, high = (ratio * math.exp(sign * reach * error) for sign in (-1, 1))
    return Interval(ratio, low, high, loads, error, freedom)


def test_a_verdict_or_a_width_decides() -> None:
    assert is_decided(interval(1.05, 0.01), RULE)
    assert not is_decided(interval(1.02, 0.01), RULE)
    assert is_decided(interval(1.0, 0.005), RULE)
    assert is_decided(interval(1.02, 0.007), StoppingRule(0.02, 0.02))
    assert not is_decided(interval(1.02, 0.009), StoppingRule(0.02, 0.02))


def test_at_the_edge_more_loads_hardly_decide() -> None:
    assert chance(interval(1.02, 0.004, loads=8), 12, RULE) < HOPELESS
    assert chance(interval(1.02, 0.006, loads=3), 100, RULE) > HOPELESS  # the mean may still move


def test_noise_that_no_number_of_loads_outweighs() -> None:
    assert chance(interval(1.0, 0.05, loads=6), 12, RULE) < HOPELESS
    assert chance(interval(1.3, 0.05, loads=6), 12, RULE) > 0.9
    assert chance(interval(1.0, 0.05, loads=3), 12, RULE) > HOPELESS  # its mean may still come out far away


def test_few_degrees_of_freedom_are_more_later() -> None:
    """Of a comparison that is alone: at three loads its interval reaches far, at twelve it does not."""
    assert chance(interval(1.05, 0.008, freedom=2, reach=8.4), 12, RULE) > 0.5


def test_a_width_is_foretold_by_the_noise_alone() -> None:
    rule = StoppingRule(0.02, 0.02)
    assert chance(interval(1.0, 0.012), 12, rule) > 0.9
    assert chance(interval(1.0, 0.05), 12, rule) < HOPELESS


@given(st.floats(0.5, 2), st.floats(1e-4, 0.3), st.integers(2, 40), st.floats(1, 200), st.integers(1, 60))
def test_a_chance_is_one_and_the_same_either_way_round(
    ratio: float, error: float, loads: int, freedom: float, more: int
) -> None:
    found = chance(interval(ratio, error, loads, freedom, 3.0), loads + more, RULE)
    assert 0 <= found <= 1 + 1e-9
    assert chance(interval(1 / ratio, error, loads, freedom, 3.0), loads + more, RULE) == pytest.approx(found, abs=1e-6)


def test_an_interval_of_a_series_foretells_nothing() -> None:
    assert chance(Interval(1.0, 0.9, 1.1, 1), 12, RULE) == 1.0
