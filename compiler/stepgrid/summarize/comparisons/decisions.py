"""Decisions where loads are added until comparisons are sure: which have loads enough, get more, or are given up."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import BUILD, AdaptiveRepeat, Plan
from stepgrid.model.units import counted, duration
from stepgrid.store.results import result_seconds
from stepgrid.store.store import Store
from stepgrid.summarize.comparisons.comparison import Case, Comparison
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.confidence_intervals import Interval


class DecisionState(StrEnum):
    DECIDED = "decided"
    OPEN = "undecided so far"
    TENTATIVE = "to be confirmed"
    INCOMPLETE = "waiting for loads that have no figures"
    GIVEN_UP = "given up"
    LAST = "undecided after the last load"
    LATE = "undecided when the time was used up"
    IDLE = "undecided because a load did nothing"


class Decision(Struct, frozen=True):
    """State of one comparison, and the loads that it needs."""

    name: str  # cache=hyper against cache=lru, threads=2, readww
    state: DecisionState
    interval: Interval | None = None
    wanted: int = 0  # loads, of the cells of arm and base
    cells: tuple[str, ...] = ()
    idle: str = ""  # which loads did nothing

    @property
    def loads(self) -> int:
        return self.interval.loads if self.interval else 0

    @property
    def range(self) -> str:
        """Write the ratios that are possible: 0.99x to 1.03x."""
        if not self.interval or self.interval.high > units.WIDEST * self.interval.low:
            return units.UNBOUNDED
        write = units.telling(self.interval.low, self.interval.high)
        return f"{write(self.interval.low)}x to {write(self.interval.high)}x"


class LoadCosts(Struct, frozen=True):
    """Seconds that the stages of a plan took, and those of one more load."""

    spent: float = 0.0
    _seconds_by_stage: Mapping[str, Mapping[str, float]] = {}  # of a cell's first load

    def seconds(self, cells: Collection[str]) -> float:
        """Add up one more load of these cells; a stage that they share runs once."""
        stages: dict[str, float] = {}
        for cell in cells:
            stages |= self._seconds_by_stage.get(cell, {})
        return math.fsum(stages.values())


def load_costs(store: Store, header: Plan) -> LoadCosts:
    stages = {stage for cell in header.cells for repeat in cell.repeats for stage in repeat.stages}
    seconds = {stage: result_seconds(store.result(stage)) for stage in stages}
    by_cell = {
        cell.id: {stage: seconds[stage] for repeat in cell.repeats if not repeat.load for stage in repeat.stages}
        for cell in header.cells
    }
    return LoadCosts(math.fsum(seconds.values()), by_cell)


class DecisionLimits(Struct, frozen=True):
    repeat: AdaptiveRepeat
    effect: float
    costs: LoadCosts

    @property
    def rule(self) -> verdicts.StoppingRule:
        return verdicts.StoppingRule(self.effect, self.repeat.width)


def decide(comparisons: Sequence[Comparison], limits: DecisionLimits) -> tuple[Decision, ...]:
    """Decide all comparisons; a limit of time allows as many more loads as everything that is open leaves room for."""
    cases = [
        (name, case, comparison.layout.across == (BUILD,))
        for comparison in comparisons
        for name, case in _judged_cases(comparison)
    ]
    decisions = [_decide_case(name, case, limits, None, of_builds) for name, case, of_builds in cases]
    if limits.repeat.within is None:
        return tuple(decisions)
    cost = limits.costs.seconds({cell for decision in decisions for cell in decision.cells})
    seconds = max(limits.repeat.within - limits.costs.spent, 0.0)
    loads = int(seconds // cost) if cost > 0 else limits.repeat.most
    return tuple(_decide_case(name, case, limits, loads, of_builds) for name, case, of_builds in cases)


def _judged_cases(comparison: Comparison) -> Iterator[tuple[str, Case]]:
    for case in comparison.cases():
        if case.entry.idle or (case.entry.interval and not case.entry.refusal):
            arms = f"{comparison.arm_name(case.arm)} against {comparison.base}"
            metric = "" if comparison.metric.name == QPS else comparison.metric.title
            yield ", ".join(filter(None, (arms, comparison.point_name(case.row), case.row.step, metric))), case


def _decide_case(name: str, case: Case, limits: DecisionLimits, more_loads: int | None, is_of_builds: bool) -> Decision:
    """Decide a comparison; of builds a difference that may be by chance is measured again, as there are many."""
    interval = case.entry.interval
    if case.entry.idle and case.entry.verdict in verdicts.VERDICTS and case.entry.verdict not in verdicts.OPEN:
        return Decision(name, DecisionState.DECIDED)
    if case.entry.idle or interval is None:
        return Decision(name, DecisionState.IDLE, idle=case.entry.idle or "")
    is_tentative = is_of_builds and case.entry.perhaps and interval.loads < limits.repeat.most and more_loads != 0
    is_decided = _is_case_decided(case, interval, limits)
    if is_decided and not is_tentative:
        return Decision(name, DecisionState.DECIDED, interval)
    if any(measured < planned for measured, planned in (case.point.loads, case.base.loads)):
        return Decision(name, DecisionState.INCOMPLETE, interval)
    most = limits.repeat.most if more_loads is None else min(limits.repeat.most, interval.loads + more_loads)
    wanted = limits.repeat.next_look(interval.loads)
    if wanted is None or most <= interval.loads:
        return Decision(name, DecisionState.LAST if wanted is None else DecisionState.LATE, interval)
    if not is_decided and verdicts.chance_of_decision(interval, most, limits.rule) < verdicts.HOPELESS:
        return Decision(name, DecisionState.GIVEN_UP, interval)
    cells = tuple(dict.fromkeys(point.runs[0].cell for point in (case.point, case.base)))
    state = DecisionState.TENTATIVE if is_decided else DecisionState.OPEN
    return Decision(name, state, interval, min(wanted, most), cells)


def _is_case_decided(case: Case, interval: Interval, limits: DecisionLimits) -> bool:
    """Tell whether a case has its width or its verdict; a difference within the noise floor has none yet."""
    if limits.repeat.width is not None:
        return verdicts.is_decided(interval, limits.rule)
    return case.entry.verdict in verdicts.VERDICTS and case.entry.verdict not in verdicts.OPEN


def load_requests(decisions: Sequence[Decision]) -> list[tuple[str, int, str]]:
    """List cell, loads and why, for the next plan of the spec."""
    requests = []
    for decision in decisions:
        state = "perhaps by chance" if decision.state is DecisionState.TENTATIVE else "undecided"
        reason = f"{decision.name}: {state} after {counted(decision.loads, 'load')}"
        requests += [(cell, decision.wanted, reason) for cell in decision.cells]
    return requests


def decision_sentences(decisions: Sequence[Decision], repeat: AdaptiveRepeat | None) -> Iterator[str]:
    """Count the comparisons by state, then name those without a verdict, each with its range."""
    if repeat is None or not decisions:
        return
    names = {state: state.value for state in DecisionState}
    if repeat.width:
        names[DecisionState.DECIDED] = f"no wider than ± {repeat.width * 100:g} %"
    counts = {state: sum(decision.state is state for decision in decisions) for state in DecisionState}
    states = ", ".join(f"{count} {names[state]}" for state, count in counts.items() if count)
    yield f"{counted(len(decisions), 'comparison')}: {states}"
    reasons = {
        DecisionState.GIVEN_UP: f"given up: {repeat.most} would hardly decide it",
        DecisionState.LATE: f"more would exceed `within: {duration(repeat.within or 0.0)}`",
        DecisionState.LAST: "the most that `repeat` allows",
    }
    for decision in decisions:
        if decision.state is DecisionState.IDLE:
            yield f"  {decision.name}: {decision.idle}"
        elif reason := reasons.get(decision.state):
            yield f"  {decision.name}: {decision.range} after {counted(decision.loads, 'load')}, {reason}"
