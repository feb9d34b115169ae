"""What a search found, as values: the report says them as text and as a page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from stepgrid.bisect.bisection import Outcome
from stepgrid.bisect.measurement import Reading
from stepgrid.bisect.posterior import ChangePoint, Samples, change_point
from stepgrid.bisect.request import Candidate, Request
from stepgrid.bisect.search import Found, Unanswered
from stepgrid.summarize.statistics.confidence_intervals import Interval

_FAR = 3.5  # standard errors from its level: it may belong to neither


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate that was measured, or tried."""

    candidate: Candidate
    reading: Reading
    figure: float | None  # geometric mean of its loads
    probability: float  # that it is the first bad one


@dataclass(frozen=True, slots=True)
class Findings:
    request: Request
    candidates: Sequence[Candidate]
    outcome: Outcome
    rows: Sequence[Row]
    change: ChangePoint | None  # None: the ends were not measured
    ratio: Interval | None  # of the level after the change to that before it, by all loads
    neighbours: Interval | None  # of the first bad one to the last good one
    odd: Sequence[str] = ()  # names of candidates that are on neither level

    @property
    def found(self) -> Found | None:
        return self.outcome.answer if isinstance(self.outcome.answer, Found) else None

    @property
    def why_not(self) -> str:
        return self.outcome.answer.why if isinstance(self.outcome.answer, Unanswered) else ""

    @property
    def suspects(self) -> Sequence[Candidate]:
        """The change is one of these."""
        return self.candidates[self.found.low + 1 : self.found.high + 1] if self.found else ()

    @property
    def loads(self) -> int:
        return sum(len(reading.figures) for reading in self.outcome.readings.values())


def findings(request: Request, candidates: Sequence[Candidate], outcome: Outcome) -> Findings:
    samples, readings = outcome.evidence.samples, outcome.readings
    ends = {0, len(candidates) - 1} <= samples.keys()
    change = change_point(len(candidates), samples) if ends else None
    rows = [_row(candidates[place], readings[place], _probability(change, place)) for place in sorted(readings)]
    answer = outcome.answer
    ratio = neighbours = None
    if change is not None and isinstance(answer, Found):
        each = _level_ratio(change), _neighbours(change, answer, samples)
        ratio, neighbours = map(_inverted, each) if outcome.lower_is_better else each
    odd = [candidates[place].name for place in _odd(change, answer, samples)]
    return Findings(request, candidates, outcome, rows, change, ratio, neighbours, odd)


def _row(candidate: Candidate, reading: Reading, probability: float) -> Row:
    figure = math.exp(fmean(map(math.log, reading.figures))) if reading.figures else None
    return Row(candidate, reading, figure, probability)


def _probability(change: ChangePoint | None, place: int) -> float:
    return float(change.probability[place - 1]) if change is not None and place else 0.0


def _level_ratio(change: ChangePoint) -> Interval:
    at = change.most_probable()
    before, after = float(change.figures_before[at]), float(change.figures_after[at])
    return _interval(change, float(change.after[at] - change.before[at]), before, after)


def _inverted(found: Interval) -> Interval:
    """The search's logarithms have less for worse."""
    return Interval(1 / found.ratio, 1 / found.high, 1 / found.low, found.loads, found.error, found.freedom)


def _neighbours(change: ChangePoint, answer: Found, samples: Samples) -> Interval:
    good, bad = samples[answer.low], samples[answer.high]
    return _interval(change, fmean(bad) - fmean(good), len(good), len(bad))


def _interval(change: ChangePoint, apart: float, before: float, after: float) -> Interval:
    """95 %, by the noise of all loads."""
    from scipy.special import stdtrit

    error = float(change.noise[change.most_probable()]) * math.sqrt(1 / before + 1 / after)
    half = float(stdtrit(change.freedom, 0.975)) * error
    ends = math.exp(apart - half), math.exp(apart + half)
    return Interval(math.exp(apart), *ends, round(min(before, after)), error, change.freedom)


def _odd(change: ChangePoint | None, answer: object, samples: Samples) -> Iterator[int]:
    """Far from its level: there may be more changes than one."""
    if change is None or not isinstance(answer, Found):
        return
    at = change.most_probable()
    for place, logs in sorted(samples.items()):
        level = float((change.after if place > at else change.before)[at])
        if abs(fmean(logs) - level) > _FAR * float(change.noise[at]) / math.sqrt(len(logs)):
            yield place
