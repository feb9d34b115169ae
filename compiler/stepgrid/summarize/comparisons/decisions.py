"""Which comparisons have loads enough, which of them get more, and which are given up, where loads are added until it
is sure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import AdaptiveRepeat
from stepgrid.model.units import counted, duration
from stepgrid.summarize.comparisons.comparison import Case, Comparison, Entry
from stepgrid.summarize.data.load_costs import LoadCosts
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.verdicts import (
    HOPELESS,
    UNDECIDED,
    VERDICTS,
    StoppingRule,
    chance_of_decision,
    is_decided,
)


class State(StrEnum):
    DECIDED = "decided"
    OPEN = "undecided so far"
    INCOMPLETE = "waiting for loads that have no figures"
    GIVEN_UP = "given up"
    LAST = "undecided after the last load"
    LATE = "undecided when the time was used up"
    IDLE = "undecided because a load did nothing"


@dataclass(frozen=True, slots=True)
class Decision:
    """Of one comparison."""

    where: str  # cache=hyper against cache=lru, threads=2, readww
    state: State
    interval: Interval | None = None
    wanted: int = 0  # loads, of the cells of arm and base
    cells: tuple[str, ...] = ()
    idle: str = ""  # which loads did nothing

    @property
    def loads(self) -> int:
        return self.interval.loads if self.interval else 0

    @property
    def range(self) -> str:
        """0.99x to 1.03x: what is known all the same."""
        low, high = (self.interval.low, self.interval.high) if self.interval else (0.0, 0.0)
        if not self.interval or high / low > units.WIDEST:
            return units.UNBOUNDED
        shown = units.telling(low, high)
        return f"{shown(low)}x to {shown(high)}x"


@dataclass(frozen=True, slots=True)
class Limits:
    repeat: AdaptiveRepeat
    effect: float
    costs: LoadCosts

    @property
    def rule(self) -> StoppingRule:
        return StoppingRule(self.effect, self.repeat.width)


def decisions(comparisons: Sequence[Comparison], limits: Limits) -> tuple[Decision, ...]:
    """With no limit of time first: what all that is open costs says how many loads of it there is time for."""
    cases = [case for comparison in comparisons for case in _open_cases(comparison)]
    found = [_decision(where, case.entry, case.base, limits, None) for where, case in cases]
    blocks = _affordable(found, limits)
    if blocks is None:
        return tuple(found)
    return tuple(_decision(where, case.entry, case.base, limits, blocks) for where, case in cases)


def _open_cases(comparison: Comparison) -> Iterator[tuple[str, Case]]:
    for case in comparison.cases():
        if case.entry.idle or (case.entry.interval and not case.entry.refusal):
            metric = "" if comparison.metric.name == QPS else comparison.metric.title
            parts = (
                f"{comparison.arm_name(case.arm)} against {comparison.base}",
                comparison.point_name(case.row),
                case.row.step,
                metric,
            )
            yield ", ".join(filter(None, parts)), case


def _decision(where: str, entry: Entry, base: Point, limits: Limits, blocks: int | None) -> Decision:
    """`blocks`: how many more loads there is time for."""
    if entry.idle:
        return Decision(where, State.IDLE, idle=entry.idle)
    interval, point = entry.interval, entry.point
    assert interval is not None
    assert point is not None
    if _is_decided(entry, interval, limits):
        return Decision(where, State.DECIDED, interval)
    if any(measured < planned for measured, planned in (point.loads, base.loads)):
        return Decision(where, State.INCOMPLETE, interval)
    most = limits.repeat.most if blocks is None else min(limits.repeat.most, interval.loads + blocks)
    wanted = limits.repeat.next_look(interval.loads)
    if wanted is None or most <= interval.loads:
        return Decision(where, State.LAST if wanted is None else State.LATE, interval)
    if chance_of_decision(interval, most, limits.rule) < HOPELESS:
        return Decision(where, State.GIVEN_UP, interval)
    cells = tuple(dict.fromkeys(each.runs[0].cell for each in (point, base)))
    return Decision(where, State.OPEN, interval, min(wanted, most), cells)


def _is_decided(entry: Entry, interval: Interval, limits: Limits) -> bool:
    """A difference within the noise floor has no verdict yet."""
    if limits.repeat.width is not None:
        return is_decided(interval, limits.rule)
    return entry.verdict in VERDICTS and entry.verdict not in UNDECIDED


def _affordable(found: Sequence[Decision], limits: Limits) -> int | None:
    """Loads of everything that is open; None where time is no limit."""
    if limits.repeat.within is None:
        return None
    cost = limits.costs.of({cell for each in found for cell in each.cells})
    left = max(limits.repeat.within - limits.costs.spent, 0.0)
    return int(left // cost) if cost > 0 else limits.repeat.most


def sentences(found: Sequence[Decision], repeat: AdaptiveRepeat | None) -> Iterator[str]:
    """How many comparisons came to what, then those without a verdict, each with its range."""
    if repeat is None or not found:
        return
    counts = {state: sum(each.state is state for each in found) for state in State}
    said = ", ".join(f"{count} {_shown(state, repeat)}" for state, count in counts.items() if count)
    yield f"{counted(len(found), 'comparison')}: {said}"
    for each in found:
        if each.state is State.IDLE:
            yield f"  {each.where}: {each.idle}"
        if each.state in (State.GIVEN_UP, State.LAST, State.LATE):
            yield f"  {each.where}: {each.range} after {counted(each.loads, 'load')}, {_why(each.state, repeat)}"


def _shown(state: State, repeat: AdaptiveRepeat) -> str:
    return f"no wider than ± {repeat.width * 100:g} %" if state is State.DECIDED and repeat.width else state.value


def _why(state: State, repeat: AdaptiveRepeat) -> str:
    if state is State.GIVEN_UP:
        return f"given up: {repeat.most} would hardly decide it"
    if state is State.LATE:
        return f"more would exceed `within: {duration(repeat.within or 0.0)}`"
    return "the most that `repeat` allows"


def requests(found: Sequence[Decision]) -> list[tuple[str, int, str]]:
    """Cell, loads, why."""
    whys = {each.where: f"{each.where}: undecided after {counted(each.loads, 'load')}" for each in found}
    return [(cell, each.wanted, whys[each.where]) for each in found for cell in each.cells]
