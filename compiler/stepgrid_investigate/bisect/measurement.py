"""Measure candidates by the plain run of a spec of them alone, and read their figures from its tables."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean, variance

from msgspec import Struct

from stepgrid.errors import PROBLEMS, USAGE
from stepgrid.host.processes.signals import die_with_parent
from stepgrid.language.problems import SpecError, format_problems, nearest
from stepgrid.model.plan import BUILD, Plan, PlannedClaim
from stepgrid.model.records import Json
from stepgrid.model.status import Status
from stepgrid.model.units import counted
from stepgrid.package import INTERPRETER
from stepgrid.plan.report_check import ClaimError
from stepgrid.plugins.metrics import METRICS
from stepgrid.store import plans
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_files import current_report
from stepgrid.workflow import plan_cache
from stepgrid_answers.claims import ratios_by_load
from stepgrid_investigate.bisect.question import BisectRequest, Candidate, SearchError
from stepgrid_investigate.bisect.search import LEAST, NOISE, Measure

CLEAR = 8.0  # standard errors: so far no metric of a hundred is by chance
_LOST = (Status.FAILED, Status.UNSUPPORTED, Status.BLOCKED, Status.ELSEWHERE)


class Stopped(Exception):
    """A run ended early: the same command goes on."""


class Reading(Struct, frozen=True):
    """Figures of a candidate, the first load first, or why there are none."""

    figures: tuple[float, ...] = ()
    lacking: str = ""
    log: str = ""
    build_seconds: float | None = None
    load_seconds: float | None = None


class Measurement(Struct):
    store: Store
    request: BisectRequest
    claim: PlannedClaim | None
    candidates: Sequence[Candidate]
    _plans: dict[tuple[str, ...], tuple[Plan, str]] = {}

    def plan(self, decision: Measure) -> Plan:
        return self._compile(decision)[0]

    def report(self, decision: Measure) -> Report:
        return current_report(self.store, self.plan(decision))

    def is_over(self, decision: Measure, retry: bool = False) -> bool:
        """Tell whether everything was measured, or failed; failures are tried again only with `retry`."""
        nodes = StatusReader(self.store, self.plan(decision)).read().nodes.values()
        return all(node.status is Status.DONE or (node.status in _LOST and not retry) for node in nodes)

    def run(self, decision: Measure) -> None:
        """Run the candidates and repeat what the run prints, without warnings of the spec, which were printed."""
        request, warnings = self.request, set(self._compile(decision)[1].splitlines())
        options = [*(["--scale", request.scale] if request.scale else [])]
        options += ["--only", request.only] if request.only else []
        options += [f"--set={text}" for text in self._sets(decision)]
        argv = [*INTERPRETER, "stepgrid.cli", "run", request.spec, *options]
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        process = subprocess.Popen(argv, text=True, preexec_fn=die_with_parent(), stdout=null, stderr=pipe)
        try:
            _repeat_output(process, warnings)
        except KeyboardInterrupt:  # it has reached the run, too, which ends in its own time
            _repeat_output(process, warnings)
            raise Stopped("stopped by SIGINT") from None
        if process.returncode in (PROBLEMS, USAGE):
            raise SearchError("the run was refused, as it says above")

    def readings(self, decision: Measure) -> Iterator[tuple[int, Reading]]:
        """Yield candidates and their figures; raise Stopped where some are missing and nothing failed."""
        report, plan = self.report(decision), self.plan(decision)
        statuses = StatusReader(self.store, plan).read().nodes
        for index in decision.candidates:
            label = self.request.label(self.candidates[index])
            nodes = [statuses[node] for node in _nodes(plan, label)]
            figures = self._figures(report, label)
            if len(figures) >= decision.loads:
                build = next((node.seconds for node in nodes if node.is_build), None)
                results = [node.result for node in nodes if node.result and not node.is_build]
                seconds = [result.seconds for result in results if result.seconds is not None]
                yield index, Reading(figures, "", "", build, sum(seconds) / decision.loads if seconds else None)
            elif node := next((node for node in nodes if node.status in _LOST), None):
                reason = node.end.sentence if node.end else node.sentence
                yield index, Reading((), reason, str(node.log or ""))
            elif all(node.status is Status.DONE for node in nodes):
                raise SearchError(self._explain_missing(report, label))
            else:
                raise Stopped(f"{label} has {counted(len(figures), 'load')} of {decision.loads}")

    def _figures(self, report: Report, label: str) -> tuple[float, ...]:
        sections = report.comparisons.sections
        points = [point for section in sections for point in section.points if point.labels[BUILD] == label]
        if self.claim:
            try:
                return ratios_by_load(self.claim, points)
            except ClaimError as error:
                raise SearchError(f"`{self.request.claim}`: {error}") from None
        for point in points:
            if point.step == self.request.step:
                values = point.values(self.request.metric)
                return tuple(_mean(values[load]) for load in sorted(values))
        return ()

    def clearest_difference(self, decision: Measure) -> tuple[str, float] | None:
        """Find the metric by which the second of two candidates is worse beyond chance, with the ratio to the first."""
        labels = [self.request.label(self.candidates[index]) for index in decision.candidates]
        report, clearest = self.report(decision), (0.0, "", 1.0)
        points = [point for section in report.comparisons.sections for point in section.points]
        of_step = {point.labels[BUILD]: point for point in points if point.step == self.request.step}
        if not of_step.keys() >= {*labels}:
            return None
        names = [name for name, metric in METRICS.items() if metric.better and name != self.request.metric]
        for name in names:
            good, bad = (_logarithms(of_step[label].values(name)) for label in labels)
            if len(good) < LEAST or len(bad) < LEAST:
                continue
            worse = (fmean(good) - fmean(bad)) * (-1 if METRICS[name].better == "lower" else 1)
            noise = math.sqrt((NOISE**2 + variance(good) + variance(bad)) / 3)
            score = worse / (noise * math.sqrt(1 / len(good) + 1 / len(bad)))
            clearest = max(clearest, (score, name, math.exp(fmean(bad) - fmean(good))))
        return clearest[1:] if clearest[0] > CLEAR else None

    def _explain_missing(self, report: Report, label: str) -> str:
        """Explain why there is no figure although all of it ran."""
        request = self.request
        if self.claim:
            return f"`{label}` has no figures of the claim `{request.claim}`"
        sections = [section for section in report.comparisons.sections if section.step == request.step]
        metrics = {name for section in sections for run in section.runs for name in run.metrics}
        return f"`{request.step}` of `{label}` has no figure `{request.metric}`; {nearest(request.metric, metrics)}"

    def _compile(self, decision: Measure) -> tuple[Plan, str]:
        key = self._sets(decision)
        if key not in self._plans:
            request = plans.Request(self.request.spec, self.request.scale, self.request.only, key)
            try:
                self._plans[key] = plan_cache.load_or_compile(self.store, request)
            except SpecError as error:
                raise SearchError(format_problems(error.problems)) from None
        return self._plans[key]

    def _sets(self, decision: Measure) -> tuple[str, ...]:
        return override_spec(
            self.request, self.claim, [self.candidates[index] for index in decision.candidates], decision.loads
        )


def override_spec(
    request: BisectRequest, claim: PlannedClaim | None, candidates: Sequence[Candidate], loads: int
) -> tuple[str, ...]:
    """List the `--set` values that turn the spec into one of some candidates alone.

    JSON is YAML: quotes keep a version or a commit a text."""
    builds = {request.label(candidate): _declare_build(request, candidate) for candidate in candidates}
    return (
        *request.sets,
        *([f"builds={json.dumps(builds)}"] if request.commits else []),
        f"sweep.build={json.dumps([*builds])}",
        *(f"repeat.{key}=null" for key in ("until", "least", "most", "within")),  # the search decides on loads
        f"repeat.loads={loads}",
        *(f"{key}=null" for key in ("also", "report.base", "report.tables")),  # they may name builds that take no part
        f"claims={json.dumps([claim.to_json()] if claim else [])}",
    )


def _declare_build(request: BisectRequest, candidate: Candidate) -> dict[str, Json]:
    build: dict[str, Json] = {"extends": request.family, "source": {"ref": candidate.ref}}
    if version := candidate.version or request.version:  # it changes along a branch: its tree may say it
        build["version"] = version
    return build


def _repeat_output(process: subprocess.Popen[str], known_lines: Collection[str]) -> None:
    for line in process.stderr or ():
        if line.rstrip("\n") not in known_lines and line.strip():
            print(line, end="", file=sys.stderr, flush=True)
    process.wait()


def _logarithms(values: Mapping[int, Sequence[float]]) -> list[float]:
    """Average the runs of each load; empty where a figure has no logarithm."""
    means = [fmean(runs) for runs in values.values() if runs]
    return [math.log(mean) for mean in means] if all(mean > 0 for mean in means) else []


def _mean(runs: Sequence[float]) -> float:
    """Average the runs of a load, geometrically."""
    if min(runs) <= 0:
        raise SearchError(f"a figure of {min(runs):g} has no logarithm: search by a claim")
    return math.exp(fmean(map(math.log, runs)))


def _nodes(plan: Plan, label: str) -> list[str]:
    """List builds first, so that a build that failed is the reason before the stages that it blocks."""
    cells = [cell for cell in plan.cells if cell.labels[BUILD] == label]
    stages = dict.fromkeys(stage for cell in cells for repeat in cell.repeats for stage in repeat.stages)
    builds = [build for stage in plan.stages if stage.id in stages for build in stage.builds]
    return [*dict.fromkeys(builds), *stages]
