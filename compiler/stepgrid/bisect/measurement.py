"""Measures candidates by the plain run of a spec of them alone, and reads their figures from its tables."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from stepgrid.bisect.overrides import overrides
from stepgrid.bisect.request import Candidate, Request, SearchError
from stepgrid.bisect.state import Decision
from stepgrid.host.processes.signals import die_with_parent
from stepgrid.language.problems import SpecError, format_problems, nearest
from stepgrid.model.plan import Plan
from stepgrid.model.status import NodeStatus, Status
from stepgrid.model.units import counted
from stepgrid.plan.report_check import ClaimError
from stepgrid.store.status.reader import StatusReader
from stepgrid.store.store import Store
from stepgrid.summarize.claims.claim_cases import loads_of
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.refresh import current
from stepgrid.summarize.report import Report
from stepgrid.workflow.plan_cache import Request as PlanRequest
from stepgrid.workflow.plan_cache import load_or_compile

_BUILD = "build"
_LOST = (Status.FAILED, Status.UNSUPPORTED, Status.BLOCKED, Status.ELSEWHERE)
_SAYS_NO_MORE = (1, 2)  # exit statuses of `run`: the spec is wrong, the call is


class Stopped(Exception):
    """A run ended early: the same command goes on."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of a candidate: its figures, the first load first, or why there are none."""

    figures: tuple[float, ...] = ()
    lacking: str = ""
    log: str = ""
    build_seconds: float | None = None
    load_seconds: float | None = None


@dataclass(slots=True)
class Measurement:
    store: Store
    request: Request
    claim: Mapping[str, Any] | None
    candidates: Sequence[Candidate]
    _plans: dict[tuple[tuple[int, ...], int], tuple[Plan, str]] = field(default_factory=dict)
    _readings: dict[tuple[tuple[int, ...], int], Mapping[int, Reading]] = field(default_factory=dict)

    def plan(self, decision: Decision) -> Plan:
        return self._compiled(decision)[0]

    def is_over(self, decision: Decision, retry: bool = False) -> bool:
        """Everything was measured, or failed: what failed is tried again only where that is asked for."""
        nodes = StatusReader(self.store, self.plan(decision)).read().nodes.values()
        return all(node.status is Status.DONE or (node.status in _LOST and not retry) for node in nodes)

    def run(self, decision: Decision) -> None:
        """With what the run says of its progress; the warnings of the spec were said before."""
        said = set(self._compiled(decision)[1].splitlines())
        argv = [sys.executable, "-m", "stepgrid.cli", "run", self.request.spec, *self._narrowed(decision)]
        process = subprocess.Popen(
            argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent()
        )
        try:
            _repeat(process, said)
        except KeyboardInterrupt:  # it has reached the run, too, which ends in its own time
            _repeat(process, said)
            raise Stopped("stopped by SIGINT") from None
        if process.returncode in _SAYS_NO_MORE:
            raise SearchError("the run was refused, as it says above")

    def readings(self, decision: Decision) -> Mapping[int, Reading]:
        """Stopped where some of it was not measured and nothing failed."""
        key = decision.candidates, decision.loads
        if key not in self._readings:
            self._readings[key] = dict(self._read(decision))
        return self._readings[key]

    def report(self, decision: Decision) -> Report:
        return current(self.store, self.plan(decision))

    def _compiled(self, decision: Decision) -> tuple[Plan, str]:
        key = decision.candidates, decision.loads
        if key not in self._plans:
            asked = PlanRequest(self.request.spec, self.request.scale, self.request.only, self._sets(decision))
            try:
                self._plans[key] = load_or_compile(self.store, asked)
            except SpecError as error:
                raise SearchError(format_problems(error.problems)) from None
        return self._plans[key]

    def _sets(self, decision: Decision) -> tuple[str, ...]:
        chosen = [self.candidates[place] for place in decision.candidates]
        return overrides(self.request, self.claim, chosen, decision.loads)

    def _narrowed(self, decision: Decision) -> list[str]:
        return [
            *(["--scale", self.request.scale] if self.request.scale else []),
            *(["--only", self.request.only] if self.request.only else []),
            *(f"--set={each}" for each in self._sets(decision)),
        ]

    def _read(self, decision: Decision) -> Iterator[tuple[int, Reading]]:
        report, plan = self.report(decision), self.plan(decision)
        nodes = StatusReader(self.store, plan).read().nodes
        for place in decision.candidates:
            label = self.request.label(self.candidates[place])
            own = [nodes[node] for node in _nodes(plan, label)]
            figures = self._figures(report, label)
            if len(figures) >= decision.loads:
                yield place, Reading(figures, "", "", *_seconds(own, decision.loads))
            elif lost := next((node for node in own if node.status in _LOST), None):
                yield place, Reading((), _why(lost), str(lost.log or ""))
            elif all(node.status is Status.DONE for node in own):
                raise SearchError(self._without(report, label))
            else:
                raise Stopped(f"{label} has {counted(len(figures), 'load')} of {decision.loads}")

    def _without(self, report: Report, label: str) -> str:
        """Why there is no figure although all of it ran."""
        if self.claim:
            return f"`{label}` has no figures of the claim `{self.request.claim}`"
        points = [point for section in report.sections for point in section.points]
        known = {name for each in points for run in each.runs if run.step == self.request.step for name in run.metrics}
        hint = nearest(self.request.metric, known)
        return f"`{self.request.step}` of `{label}` has no figure `{self.request.metric}`; {hint}"

    def _of_claim(self, points: Sequence[Point]) -> tuple[float, ...]:
        assert self.claim is not None
        try:
            return loads_of(self.claim, points)
        except ClaimError as error:
            raise SearchError(f"`{self.request.claim}`: {error}") from None

    def _figures(self, report: Report, label: str) -> tuple[float, ...]:
        points = [point for section in report.sections for point in section.points]
        if self.claim:
            return self._of_claim([point for point in points if point.labels[_BUILD] == label])
        for point in points:
            if point.step == self.request.step and point.labels[_BUILD] == label:
                values = point.values(self.request.metric)
                return tuple(_mean(values[load]) for load in sorted(values))
        return ()


def _repeat(process: subprocess.Popen[str], but: Collection[str]) -> None:
    """What it says, until it has ended."""
    for line in process.stderr or ():
        if line.rstrip("\n") not in but and line.strip():
            print(line, end="", file=sys.stderr, flush=True)
    process.wait()


def _mean(runs: Sequence[float]) -> float:
    """Of the runs of a load; no logarithm of what is not above zero."""
    if min(runs) <= 0:
        raise SearchError(f"a figure of {min(runs):g} has no logarithm: search by a claim")
    return math.exp(fmean(map(math.log, runs)))


def _nodes(plan: Plan, label: str) -> list[str]:
    """Builds first, so that a build that failed is the reason before the stages that it blocks."""
    cells = [cell for cell in plan.cells if cell.labels[_BUILD] == label]
    stages = dict.fromkeys(stage for cell in cells for repeat in cell.repeats for stage in repeat.stages)
    clients = {stage.id: stage.clients for stage in plan.stages}
    builds = dict.fromkeys([*(cell.build for cell in cells), *(each for stage in stages for each in clients[stage])])
    return [*builds, *stages]


def _why(node: NodeStatus) -> str:
    return node.end.sentence if node.end else node.sentence


def _seconds(nodes: Sequence[NodeStatus], loads: int) -> tuple[float | None, float | None]:
    builds = [node.seconds for node in nodes if node.is_build]
    stages = [node.result.seconds for node in nodes if not node.is_build and node.result]
    known = [each for each in stages if each is not None]
    return builds[0] if builds else None, sum(known) / loads if known else None
