"""What to measure next, or what was found: worked out from the figures alone."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from statistics import fmean, variance
from typing import TypeAlias

import numpy as np

from stepgrid.bisect.posterior import NOISE, WEIGHT, ChangePoint, Samples, change_point, groups, information

LEAST, MOST = 3, 12  # loads of each end, of the two candidates of the answer; and of any candidate at most
SURE = 0.97  # of the answer: a load more than 0.95 needs, and half of its errors
_TWO_SIDED = 0.025  # that two ends do not differ
BUILD_COST = 3.0  # in loads, at least: a search that measures few candidates is easier to follow
_FEW = 40  # candidates that are looked at, where there are more


@dataclass(frozen=True, slots=True)
class Question:
    """`smallest`: how far apart the ends are to be, a logarithm; a `threshold` is to lie between the two."""

    count: int
    smallest: float
    threshold: float | None = None
    build_cost: float = BUILD_COST  # in loads


@dataclass(frozen=True, slots=True)
class Evidence:
    samples: Samples = field(default_factory=dict)  # less is worse
    unusable: Collection[int] = ()  # that could not be built or run
    built: Collection[int] = ()

    def loads(self, candidate: int) -> int:
        return len(self.samples.get(candidate, ()))


@dataclass(frozen=True, slots=True)
class Measure:
    """So many loads of each, those that it has among them."""

    candidates: tuple[int, ...]
    loads: int
    why: str


@dataclass(frozen=True, slots=True)
class Found:
    """The change came after `low` and is there in `high`; what lies between them cannot be measured."""

    low: int
    high: int
    probability: float


@dataclass(frozen=True, slots=True)
class Unanswered:
    why: str


Step: TypeAlias = "Measure | Found | Unanswered"


def next_step(question: Question, evidence: Evidence) -> Step:
    ends = (0, question.count - 1)
    if gone := [end for end in ends if end in evidence.unusable]:
        return Unanswered(f"the {'good' if gone[0] == 0 else 'bad'} end cannot be measured")
    if min(map(evidence.loads, ends)) < LEAST:
        return Measure(ends, LEAST, "the two ends")
    if (step := _ends(question, evidence)) is not None:
        return step
    found = change_point(question.count, evidence.samples)
    low, high, probability = max(groups(found, evidence.unusable), key=lambda each: each[2])
    if probability < SURE:
        return _informative(question, evidence, found) or Unanswered(
            f"{MOST} loads of each candidate do not tell which it is"
        )
    return _confirmed(evidence, found, low, high) or Found(low, high, probability)


def _confirmed(evidence: Evidence, found: ChangePoint, low: int, high: int) -> Measure | None:
    """None where the two neighbours themselves differ, by what all loads say of the noise."""
    loads = min(evidence.loads(low), evidence.loads(high))
    if loads < LEAST:
        return Measure((low, high), LEAST, "the two neighbours of the change, in turn")
    good, bad = evidence.samples[low], evidence.samples[high]
    error = float(found.noise[found.most_probable()]) * math.sqrt(1 / len(good) + 1 / len(bad))
    if _chance((fmean(good) - fmean(bad)) / error, found.freedom) >= 1 - _TWO_SIDED or loads >= MOST:
        return None
    return Measure((low, high), loads + 1, "the two neighbours of the change, in turn")


def _ends(question: Question, evidence: Evidence) -> Step | None:
    """None where they differ as they should."""
    differ, enough = _chances(question, evidence)
    last, loads = question.count - 1, max(evidence.loads(0), evidence.loads(question.count - 1))
    if differ >= 1 - _TWO_SIDED:
        return None
    if enough <= _TWO_SIDED:
        return Unanswered("the two ends do not differ as asked")
    if loads >= MOST:
        return Unanswered(f"{loads} loads of each do not tell whether the two ends differ")
    return Measure((0, last), min(loads + 2, MOST), "whether the two ends differ")


def _chances(question: Question, evidence: Evidence) -> tuple[float, float]:
    """That the ends differ in the right direction, and that they differ by at least half of what is looked for."""
    good, bad = evidence.samples[0], evidence.samples[question.count - 1]
    freedom = WEIGHT + len(good) + len(bad) - 2
    scatter = (len(good) - 1) * variance(good) + (len(bad) - 1) * variance(bad)
    noise = math.sqrt((WEIGHT * NOISE**2 + scatter) / freedom)
    if question.threshold is None:
        error, apart = noise * math.sqrt(1 / len(good) + 1 / len(bad)), fmean(good) - fmean(bad)
        return _chance(apart / error, freedom), _chance((apart - question.smallest / 2) / error, freedom)
    above = (fmean(good) - question.threshold) / (noise / math.sqrt(len(good)))
    below = (question.threshold - fmean(bad)) / (noise / math.sqrt(len(bad)))
    chance = min(_chance(above, freedom), _chance(below, freedom))
    return chance, chance


def _chance(distance: float, freedom: float) -> float:
    from scipy.special import stdtr

    return float(stdtr(freedom, distance))


def _informative(question: Question, evidence: Evidence, found: ChangePoint) -> Measure | None:
    """The load that takes away most of the uncertainty for what it costs."""
    candidates = [
        each for each in _worth_a_look(found, evidence) if each not in evidence.unusable and evidence.loads(each) < MOST
    ]
    if not candidates:
        return None
    cost = np.array([1.0 if each in evidence.built else 1.0 + question.build_cost for each in candidates])
    gain = information(found, candidates)
    best = int((gain / cost).argmax())
    candidate = candidates[best]
    return Measure((candidate,), evidence.loads(candidate) + 1, f"{gain[best] / math.log(2):.2f} bit expected")


def _worth_a_look(found: ChangePoint, evidence: Evidence) -> list[int]:
    """What is built already, and of the rest a few that part the probability evenly."""
    parts = np.interp(np.linspace(0, 1, _FEW), found.probability.cumsum(), np.arange(1, found.probability.size + 1))
    near = {int(place) + offset for place in parts for offset in (-1, 0)}
    return sorted({each for each in near if 0 <= each <= found.probability.size} | set(evidence.samples))
