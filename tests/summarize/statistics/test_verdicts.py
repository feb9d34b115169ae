import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.summarize.statistics.verdicts import MEANING, VERDICTS, single, verdict

OPPOSITE = {"faster": "slower", "slower": "faster", **{word: word for word in ("same", "different", "inconclusive")}}


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (1.03, 1.2, "faster"),
        (1.01, 1.2, "different"),
        (1.019, 1.021, "different"),
        (1.0, 1.2, "inconclusive"),
        (0.99, 1.01, "same"),
        (0.97, 1.01, "inconclusive"),
        (0.5, 0.97, "slower"),
        (0.5, 0.99, "different"),
        (0.5, 2.0, "inconclusive"),
    ],
)
def test_the_whole_interval_decides(low, high, word):
    assert verdict(low, high, 0.02) == word


def test_less_time_is_faster():
    assert verdict(0.5, 0.9, 0.02, "lower") == "faster"
    assert verdict(1.1, 1.2, 0.02, "lower") == "slower"


def test_without_a_better_direction_it_is_more_or_less():
    assert verdict(1.1, 1.2, 0.02, None) == "more"
    assert verdict(0.5, 0.9, 0.02, None) == "less"


@given(st.floats(0.1, 10), st.floats(1, 3), st.floats(0, 0.2))
def test_exchanging_the_arms_exchanges_the_word(low, wide, effect):
    there, back = verdict(low, low * wide, effect), verdict(1 / (low * wide), 1 / low, effect)
    margin = 1 + effect
    on_the_edge = any(abs(end * side - 1) < 1e-9 for end in (low, low * wide) for side in (margin, 1 / margin))
    assert on_the_edge or back == OPPOSITE[there]


def test_one_load_is_at_most_indicative():
    assert single(1.1, 1.2, 0.02) == "indicative"
    assert single(0.5, 0.9, 0.02) == "indicative"
    assert single(0.9, 1.2, 0.02) == "one load"


def test_every_verdict_is_explained():
    assert set(VERDICTS) <= set(MEANING)
