"""The probabilities of a change, against plain sums over the same model."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.bisect.posterior import NOISE, WEIGHT, change_point, groups, information

SAMPLES = {0: (0.01, -0.02, 0.0), 3: (0.005,), 5: (-0.05, -0.04), 9: (-0.06, -0.03, -0.05)}
LOGS = st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=4)


def test_the_change_is_where_the_level_falls():
    found = change_point(10, SAMPLES)
    assert found.probability.sum() == pytest.approx(1)
    assert found.most_probable() + 1 in (4, 5)
    assert found.probability[3] == pytest.approx(found.probability[4])  # nothing parts 4 from 5
    assert found.probability[3:5].sum() > 0.9
    assert found.before[4] == pytest.approx((0.01 - 0.02 + 0.005) / 4)


def test_by_integrating_the_levels_out():
    """The closed form against numbers: both levels by a grid, the variance by its own."""
    samples = {0: (0.01, -0.02), 1: (-0.01,), 2: (-0.05, -0.04)}
    levels, noises = np.linspace(-0.5, 0.5, 1201), np.geomspace(0.002, 0.2, 160)
    weights = []
    for first_bad in (1, 2):
        sides = [
            [log for place, logs in samples.items() for log in logs if (place < first_bad) is good]
            for good in (True, False)
        ]
        total = 0.0
        for noise in noises:
            # of the scaled inverse chi-square that the guess is; dv/v = 2 d(log noise)
            prior = noise ** (-WEIGHT) * math.exp(-WEIGHT * NOISE**2 / (2 * noise**2))
            likelihood = 1.0
            for side in sides:
                logs = np.array(side)[:, None]
                likelihood *= float(np.exp(-(((logs - levels) / noise) ** 2).sum(0) / 2).sum()) / noise ** len(side)
            total += prior * likelihood
        weights.append(total)
    expected = np.array(weights) / sum(weights)
    assert change_point(3, samples).probability == pytest.approx(expected, rel=0.02)


@given(st.dictionaries(st.integers(1, 8), LOGS), LOGS, LOGS, st.floats(-5, 5))
def test_another_unit_changes_nothing(
    between: dict[int, list[float]], good: list[float], bad: list[float], shift: float
):
    samples = {0: good, 9: bad, **between}
    moved = {place: [log + shift for log in logs] for place, logs in samples.items()}
    assert change_point(10, moved).probability == pytest.approx(change_point(10, samples).probability, abs=1e-6)


@given(st.dictionaries(st.integers(1, 8), LOGS), LOGS, LOGS)
def test_seen_from_the_other_end(between: dict[int, list[float]], good: list[float], bad: list[float]):
    samples = {0: good, 9: bad, **between}
    mirrored = {9 - place: logs for place, logs in samples.items()}
    back = change_point(10, mirrored).probability[::-1]
    assert back == pytest.approx(change_point(10, samples).probability, abs=1e-9)


def test_information_is_where_it_is_open():
    found = change_point(10, {0: (0.0, 0.01, -0.01), 9: (-0.1, -0.11, -0.09)})
    gains = information(found, list(range(10)))
    assert gains.argmax() in (4, 5)
    assert gains.max() == pytest.approx(math.log(2), rel=0.1)  # far apart: a load tells the side, which is one bit
    assert gains[0] == pytest.approx(0, abs=0.01)


def test_what_cannot_be_measured_parts_nothing():
    found = change_point(6, {0: (0.0,), 5: (-0.1,)})
    assert [(low, high) for low, high, _ in groups(found, {2, 3})] == [(0, 1), (1, 4), (4, 5)]
    assert sum(share for *_, share in groups(found, {2, 3})) == pytest.approx(1)
