"""What a search found, as values: the report says them as text and as a page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from stepgrid.bisect.bisection import Outcome
from stepgrid.bisect.change_point import ChangePoint, change_point
from stepgrid.bisect.measurement import Reading
from stepgrid.bisect.request import Candidate, Request
from stepgrid.bisect.search import Found, Unanswered
from stepgrid.summarize.statistics.confidence_intervals import Interval, Sample, intervals

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
    ratio: Interval | None  # of the first bad one to the last good one
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
    ratio = _ratio(readings, answer.low, answer.high) if isinstance(answer, Found) else None
    odd = [candidates[place].name for place in _odd(change, answer, samples)]
    return Findings(request, candidates, outcome, rows, change, ratio, odd)


def _row(candidate: Candidate, reading: Reading, probability: float) -> Row:
    figure = math.exp(fmean(map(math.log, reading.figures))) if reading.figures else None
    return Row(candidate, reading, figure, probability)


def _probability(change: ChangePoint | None, place: int) -> float:
    return float(change.probability[place - 1]) if change is not None and place else 0.0


def _ratio(readings: Mapping[int, Reading], low: int, high: int) -> Interval | None:
    """Paired by load: both were measured in turn."""
    pairs = zip(readings[low].figures, readings[high].figures, strict=False)
    return intervals([Sample(tuple(math.log(bad / good) for good, bad in pairs))])[0]


def _odd(change: ChangePoint | None, answer: object, samples: Mapping[int, Sequence[float]]) -> Iterator[int]:
    """Far from its level: there may be more changes than one."""
    if change is None or not isinstance(answer, Found):
        return
    at = change.most_probable()
    for place, logs in sorted(samples.items()):
        level = float((change.after if place > at else change.before)[at])
        if abs(fmean(logs) - level) > _FAR * float(change.noise[at]) / math.sqrt(len(logs)):
            yield place
