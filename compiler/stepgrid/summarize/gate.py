"""Gate of a report: which of its comparisons make a command fail, by the verdict that each has already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT, SAME
from stepgrid.summarize.comparisons.comparison import ACCEPTED, RATIO, ArmEntry
from stepgrid.summarize.findings import never_steady_arms
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics import verdicts

SLOWER, DIFFERENT, UNDECIDED = CONDITIONS = ("slower", "different", "undecided")
ALL_STEPS = ""


class Condition(NamedTuple):
    """A result that is refused: in any step, or in those named."""

    result: str
    steps: frozenset[str] = frozenset()


class Gate(Struct, frozen=True):
    conditions: tuple[Condition, ...] = ()
    effects: Mapping[str, float] = {}  # step or ALL_STEPS -> a larger smallest effect

    @property
    def steps(self) -> set[str]:
        named = (steps for _, steps in self.conditions)
        return {step for step in {*self.effects, *(step for steps in named for step in steps)} if step != ALL_STEPS}


NO_GATE = Gate()


class GateCase(NamedTuple):
    """A comparison of the leading metric or of a searched limit, and the conditions that it meets."""

    step: str
    name: str
    text: str
    results: frozenset[str]
    is_refused: bool
    is_accepted: bool = False  # a person did: else it were refused


def gate_cases(report: Report, gate: Gate) -> Iterator[GateCase]:
    """List the comparisons; an arm whose figures are missing is undecided, one whose runs are the base's is no case."""
    limits = report.comparisons.limits
    for comparison in (*report.comparisons.leading, *limits):
        metric = f", {comparison.metric.title}" if limits or comparison.metric != report.setup.metric else ""
        for row in comparison.rows:
            effect = gate.effects.get(row.step, gate.effects.get(ALL_STEPS, 0.0))
            for arm, entry in zip(comparison.arms[1:], row.entries[1:], strict=True):
                if entry.kind in (SAME, ABSENT, Status.UNSUPPORTED):
                    continue
                name = f"{comparison.where(row)}, {comparison.arm_name(arm)}{metric}"
                yield _case(gate, row.step, name, entry, effect)
    for arm_by_qps, cases in never_steady_arms(report):
        for case in cases:
            name = f"{arm_by_qps.comparison.where(case.row)}, {arm_by_qps.name}, {arm_by_qps.comparison.metric.title}"
            yield _case(gate, case.row.step, name, case.entry, 0.0)


def _case(gate: Gate, step: str, name: str, entry: ArmEntry, effect: float) -> GateCase:
    results = _results(entry, effect)
    is_refused = any(result in results and (not steps or step in steps) for result, steps in gate.conditions)
    is_accepted = is_refused and entry.conclusion is not None and entry.conclusion.kind == ACCEPTED
    return GateCase(step, name, _text(entry), results, is_refused and not is_accepted, is_accepted)


def _results(entry: ArmEntry, effect: float) -> frozenset[str]:
    is_judged = entry.kind == RATIO and not entry.refusal and entry.verdict in verdicts.VERDICTS
    if not is_judged or entry.verdict == verdicts.BUSY:
        return frozenset({UNDECIDED})
    interval = entry.interval
    within = verdicts.verdict(interval.low, interval.high, effect) if effect and interval else entry.verdict
    if verdicts.SAME in (entry.verdict, within):
        return frozenset()
    if not entry.is_difference or entry.perhaps or within in verdicts.OPEN:
        return frozenset({UNDECIDED})
    return frozenset({DIFFERENT, SLOWER} if entry.verdict in verdicts.BAD else {DIFFERENT})


def _text(entry: ArmEntry) -> str:
    if entry.kind != RATIO:
        return f"no figure ({entry.kind})"
    verdict = "" if entry.text and entry.verdict in verdicts.VERDICTS else entry.verdict
    reason = "perhaps by chance" if entry.perhaps else entry.refusal
    noted = entry.conclusion.sentence if entry.conclusion else ""
    return ", ".join(filter(None, (entry.text or entry.idle, verdict, reason, noted)))
