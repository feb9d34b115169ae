"""The search itself: decide, measure, read, until it is found. Its state is the results and a list of decisions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stepgrid.bisect.measurement import Measurement, Reading
from stepgrid.bisect.search import BUILD_COST, Evidence, Found, Measure, Question, Unanswered, next_step
from stepgrid.bisect.state import Decision, State


@dataclass(frozen=True, slots=True)
class Outcome:
    answer: Found | Unanswered
    readings: Mapping[int, Reading]
    evidence: Evidence
    lower_is_better: bool


@dataclass(slots=True)
class Bisection:
    state: State
    measurement: Measurement
    lower_is_better: bool
    say: Callable[[str], None]
    readings: dict[int, Reading] = field(default_factory=dict)

    def run(self, retry: bool = False) -> Outcome:
        """`retry`: what failed before is tried again."""
        for decision in self._newest():
            self._take(decision, retry)
        while isinstance(step := next_step(self.question, self.evidence), Measure):
            self._measure(step)
        return Outcome(step, dict(self.readings), self.evidence, self.lower_is_better)

    @property
    def question(self) -> Question:
        request = self.state.request
        threshold = 0.0 if request.claim else None
        return Question(len(self.state.candidates), math.log1p(request.by), threshold, self._build_cost)

    @property
    def evidence(self) -> Evidence:
        measured = {place: reading for place, reading in self.readings.items() if reading.figures}
        samples = {place: tuple(map(self._oriented, reading.figures)) for place, reading in measured.items()}
        return Evidence(samples, frozenset(self.readings.keys() - measured.keys()), frozenset(measured))

    @property
    def _build_cost(self) -> float:
        """In loads, as measured."""
        known = [each for each in self.readings.values() if each.build_seconds and each.load_seconds]
        costs = [(each.build_seconds or 0.0) / (each.load_seconds or 1.0) for each in known]
        return max([BUILD_COST, *costs])

    def _oriented(self, figure: float) -> float:
        """Less is worse."""
        return -math.log(figure) if self.lower_is_better else math.log(figure)

    def _newest(self) -> list[Decision]:
        """Of each candidate the last decision has all of its loads."""
        of = {place: decision for decision in self.state.decisions for place in decision.candidates}
        return list(dict.fromkeys(of.values()))

    def _measure(self, step: Measure) -> None:
        decision = Decision(step.candidates, step.loads, step.why)
        names = ", ".join(self.state.candidates[place].name for place in step.candidates)
        self.say(f"measure {names} ({step.loads} {'load' if step.loads == 1 else 'loads'}): {step.why}")
        self.state.decide(decision)
        self._take(decision)

    def _take(self, decision: Decision, retry: bool = False) -> None:
        if not self.measurement.is_over(decision, retry):
            self.measurement.run(decision)
        for place, reading in self.measurement.readings(decision).items():
            before = self.readings.get(place)
            self.readings[place] = reading
            if reading.lacking and before != reading:
                self.say(f"skip {self.state.candidates[place].name}: {reading.lacking}")
