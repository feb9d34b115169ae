"""Whole searches over made-up figures: what is found, what is not, and what it costs."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid_investigate.bisect import search

FIVE = math.log1p(0.05)


@dataclass
class Made:
    """A history whose figures fall at `change`."""

    count: int = 65
    change: int = 20
    fall: float = FIVE
    noise: float = 0.02
    broken: Collection[int] = ()
    middle: float = 0.0
    seed: int = 1
    samples: dict[int, tuple[float, ...]] = field(default_factory=dict)
    tried: list[int] = field(default_factory=list)

    def search(self, question):
        dice = np.random.default_rng(self.seed)
        while isinstance(step := search.next_step(question, self.evidence), search.Measure):
            for place in step.candidates:
                self.tried += [place] * (place not in self.tried)
                if place not in self.broken:
                    level = self.middle + (self.fall / 2 if place < self.change else -self.fall / 2)
                    known = self.samples.get(place, ())
                    new = dice.normal(level, self.noise, max(step.loads - len(known), 0))
                    self.samples[place] = (*known, *map(float, new))
        return step

    @property
    def evidence(self):
        broken = frozenset(self.broken).intersection(self.tried)
        return search.Evidence(self.samples, broken)

    @property
    def loads(self):
        return sum(map(len, self.samples.values()))


def test_planted_anywhere():
    """40 searches of 64 commits, 5 % at a noise of 2 %: the goal is 19 of 20 with at most 12 builds."""
    right = builds = loads = 0
    for seed in range(40):
        made = Made(change=1 + seed * 63 // 39, seed=seed, broken=(11, 40))
        answer = made.search(search.Question(65, FIVE))
        right += isinstance(answer, search.Found) and answer.low < made.change <= answer.high and len(made.tried) <= 12
        builds += len(made.tried)
        loads += made.loads
    assert right >= 38
    assert builds <= 9.5 * 40
    assert loads <= 32 * 40


def test_what_does_not_build_stands_in_the_answer():
    made = Made(change=20, broken=(19, 20))
    assert made.search(search.Question(65, FIVE)) == search.Found(18, 21, pytest.approx(1, abs=0.05))


def test_ends_that_are_alike():
    right = [Made(fall=0.0, seed=seed).search(search.Question(65, FIVE)) for seed in range(40)]
    assert sum(isinstance(each, search.Unanswered) for each in right) >= 38
    assert search.Unanswered("the two ends do not differ as asked") in right


def test_a_noise_that_hides_it():
    made = Made(noise=0.5)
    answer = made.search(search.Question(65, FIVE))
    assert answer == search.Unanswered("12 loads of each do not tell whether the two ends differ")
    assert made.loads == 2 * search.MOST


@pytest.mark.parametrize(("place", "end"), [(0, "good"), (64, "bad")])
def test_an_end_that_does_not_build(place, end):
    assert Made(broken=(place,)).search(search.Question(65, FIVE)) == search.Unanswered(
        f"the {end} end cannot be measured"
    )


def test_a_threshold_must_lie_between():
    assert isinstance(Made().search(search.Question(65, FIVE, threshold=0.0)), search.Found)
    wrong = Made(middle=1.0).search(search.Question(65, FIVE, threshold=0.0))
    assert wrong == search.Unanswered("the two ends do not differ as asked")


def test_neighbours_are_measured_in_turn():
    made = Made(change=1, fall=0.2, count=3)
    assert made.search(search.Question(3, FIVE)) == search.Found(0, 1, pytest.approx(1, abs=0.05))
    assert len(made.samples[0]) >= search.LEAST
    assert len(made.samples[1]) >= search.LEAST


def test_dear_builds_are_few():
    cheap, dear = Made(seed=4), Made(seed=4)
    cheap.search(search.Question(65, FIVE, build_cost=0.01))
    dear.search(search.Question(65, FIVE, build_cost=50.0))
    assert len(dear.tried) <= len(cheap.tried)
    assert search.next_step(search.Question(3, FIVE), search.Evidence({0: (0.0,), 2: (-0.1,)})) == search.Measure(
        (0, 2), 3, "the two ends"
    )


# The place of the change, against plain sums over the same model

SAMPLES = {0: (0.01, -0.02, 0.0), 3: (0.005,), 5: (-0.05, -0.04), 9: (-0.06, -0.03, -0.05)}
LOGS = st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=4)


def test_the_change_is_where_the_level_falls():
    found = search.change_point(10, SAMPLES)
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
            prior = noise ** (-search.WEIGHT) * math.exp(-search.WEIGHT * search.NOISE**2 / (2 * noise**2))
            likelihood = 1.0
            for side in sides:
                logs = np.array(side)[:, None]
                likelihood *= float(np.exp(-(((logs - levels) / noise) ** 2).sum(0) / 2).sum()) / noise ** len(side)
            total += prior * likelihood
        weights.append(total)
    expected = np.array(weights) / sum(weights)
    assert search.change_point(3, samples).probability == pytest.approx(expected, rel=0.02)


@given(st.dictionaries(st.integers(1, 8), LOGS), LOGS, LOGS, st.floats(-5, 5))
def test_another_unit_changes_nothing(between, good, bad, shift):
    samples = {0: good, 9: bad, **between}
    moved = {place: [log + shift for log in logs] for place, logs in samples.items()}
    assert search.change_point(10, moved).probability == pytest.approx(
        search.change_point(10, samples).probability, abs=1e-6
    )


@given(st.dictionaries(st.integers(1, 8), LOGS), LOGS, LOGS)
def test_seen_from_the_other_end(between, good, bad):
    samples = {0: good, 9: bad, **between}
    mirrored = {9 - place: logs for place, logs in samples.items()}
    back = search.change_point(10, mirrored).probability[::-1]
    assert back == pytest.approx(search.change_point(10, samples).probability, abs=1e-9)


def test_information_is_where_it_is_open():
    found = search.change_point(10, {0: (0.0, 0.01, -0.01), 9: (-0.1, -0.11, -0.09)})
    gains = search.information(found, list(range(10)))
    assert gains.argmax() in (4, 5)
    assert gains.max() == pytest.approx(math.log(2), rel=0.1)  # far apart: a load tells the side, which is one bit
    assert gains[0] == pytest.approx(0, abs=0.01)


def test_what_cannot_be_measured_parts_nothing():
    found = search.change_point(6, {0: (0.0,), 5: (-0.1,)})
    assert [(low, high) for low, high, _ in search.groups(found, {2, 3})] == [(0, 1), (1, 4), (4, 5)]
    assert sum(share for *_, share in search.groups(found, {2, 3})) == pytest.approx(1)
