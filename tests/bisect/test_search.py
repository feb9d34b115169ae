"""Whole searches over made-up figures: what is found, what is not, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import pytest

from stepgrid.bisect.search import (
    LEAST,
    MOST,
    Evidence,
    Found,
    Measure,
    Question,
    Unanswered,
    next_step,
)

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

    def search(self, question: Question) -> Found | Unanswered:
        dice = np.random.default_rng(self.seed)
        while isinstance(step := next_step(question, self.evidence), Measure):
            for place in step.candidates:
                self.tried += [place] * (place not in self.tried)
                if place not in self.broken:
                    level = self.middle + (self.fall / 2 if place < self.change else -self.fall / 2)
                    known = self.samples.get(place, ())
                    new = dice.normal(level, self.noise, max(step.loads - len(known), 0))
                    self.samples[place] = (*known, *map(float, new))
        return step

    @property
    def evidence(self) -> Evidence:
        broken = frozenset(self.broken).intersection(self.tried)
        return Evidence(self.samples, broken, frozenset(self.samples))

    @property
    def loads(self) -> int:
        return sum(map(len, self.samples.values()))


def test_planted_anywhere():
    """40 searches of 64 commits, 5 % at a noise of 2 %: the goal is 19 of 20 with at most 12 builds."""
    right = builds = loads = 0
    for seed in range(40):
        made = Made(change=1 + seed * 63 // 39, seed=seed, broken=(11, 40))
        answer = made.search(Question(65, FIVE))
        right += isinstance(answer, Found) and answer.low < made.change <= answer.high and len(made.tried) <= 12
        builds += len(made.tried)
        loads += made.loads
    assert right >= 38
    assert builds <= 9.5 * 40
    assert loads <= 32 * 40


def test_what_does_not_build_stands_in_the_answer():
    made = Made(change=20, broken=(19, 20))
    assert made.search(Question(65, FIVE)) == Found(18, 21, pytest.approx(1, abs=0.05))


def test_ends_that_are_alike():
    right = [Made(fall=0.0, seed=seed).search(Question(65, FIVE)) for seed in range(40)]
    assert sum(isinstance(each, Unanswered) for each in right) >= 38
    assert Unanswered("the two ends do not differ as asked") in right


def test_a_noise_that_hides_it():
    made = Made(noise=0.5)
    answer = made.search(Question(65, FIVE))
    assert answer == Unanswered("12 loads of each do not tell whether the two ends differ")
    assert made.loads == 2 * MOST


@pytest.mark.parametrize(("place", "end"), [(0, "good"), (64, "bad")])
def test_an_end_that_does_not_build(place: int, end: str):
    assert Made(broken=(place,)).search(Question(65, FIVE)) == Unanswered(f"the {end} end cannot be measured")


def test_a_threshold_must_lie_between():
    assert isinstance(Made().search(Question(65, FIVE, threshold=0.0)), Found)
    wrong = Made(middle=1.0).search(Question(65, FIVE, threshold=0.0))
    assert wrong == Unanswered("the two ends do not differ as asked")


def test_neighbours_are_measured_in_turn():
    made = Made(change=1, fall=0.2, count=3)
    assert made.search(Question(3, FIVE)) == Found(0, 1, pytest.approx(1, abs=0.05))
    assert len(made.samples[0]) >= LEAST
    assert len(made.samples[1]) >= LEAST


def test_dear_builds_are_few():
    cheap, dear = Made(seed=4), Made(seed=4)
    cheap.search(Question(65, FIVE, build_cost=0.01))
    dear.search(Question(65, FIVE, build_cost=50.0))
    assert len(dear.tried) <= len(cheap.tried)
    assert next_step(Question(3, FIVE), Evidence({0: (0.0,), 2: (-0.1,)})) == Measure((0, 2), 3, "the two ends")
