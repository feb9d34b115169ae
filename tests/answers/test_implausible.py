"""A ladder of versions: its order, its changes in words, and what breaks it."""

import math
import random

import pytest

from stepgrid_answers.implausible import drift_doubts, step_drift
from tests.summarize.made import point, run


def experiment(per_hour, noise=0.001, load=0.05, arms=4, loads=5, seed=1, each=10.0):
    """In blocks, each in an order of chance, so many minutes a run; loads differ, arms do."""
    chance = random.Random(seed)
    runs = {arm: [] for arm in range(arms)}
    for block in range(loads):
        level = chance.gauss(0, load)
        for place, arm in enumerate(chance.sample(range(arms), arms)):
            minutes = each * (block * arms + place)
            log = level + arm / 10 + per_hour * minutes / 60 + chance.gauss(0, noise)
            runs[arm].append(run(str(arm), block, 1000 * math.exp(log), minutes=minutes))
    return [point(*found) for found in runs.values()]


def test_a_drift_is_found_beside_arms_and_loads_that_differ():
    found = step_drift("readww", experiment(-0.02))
    assert found.per_hour == pytest.approx(-0.02, abs=0.003)
    assert [drift.text for drift in drift_doubts([("readww", experiment(-0.02))])] == [
        "readww: became 0.874 % slower from the first to the last arm of a load (30m00s), whatever the arm: the random "
        "order keeps that out of the ratios, not out of the figures"
    ]


def test_loads_that_differ_are_no_drift():
    found = [step_drift("readww", experiment(0.0, seed=seed)).chance for seed in range(200)]
    assert sum(each < 0.05 for each in found) <= 18
