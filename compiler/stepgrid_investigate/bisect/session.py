"""A call of `stepgrid bisect`: begin a search or go on with it, estimate its cost, collect its report."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from msgspec import Struct
from msgspec.structs import asdict

from stepgrid.build.option_difference import DEFAULT, default, differences
from stepgrid.host import files
from stepgrid.host.terminal_output import cut
from stepgrid.model import units
from stepgrid.model.plan import BUILD, Plan
from stepgrid.model.units import counted, duration
from stepgrid.store.builds import build_catalogue
from stepgrid.store.paths import SUMMARY_PAGE
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid_investigate.bisect.measurement import Measurement, Reading
from stepgrid_investigate.bisect.question import (
    BisectRequest,
    Candidate,
    describe_commit,
    find_claim,
    find_family,
    is_lower_better,
    list_candidates,
)
from stepgrid_investigate.bisect.report import BisectReport, Findings, show_probability
from stepgrid_investigate.bisect.search import (
    BUILD_COST,
    NOISE,
    Evidence,
    Found,
    Measure,
    Question,
    Unanswered,
    change_point,
    forecast,
    next_step,
)

_MOST_SUSPECTS = 3  # whose changes are shown
_DEFAULT_WIDTH = 40  # some are long lists


class State(Struct):
    """Decisions of a search, in one small file; every figure is read from the results."""

    folder: Path
    request: BisectRequest
    candidates: Sequence[Candidate]
    decisions: list[Measure] = []

    def decide(self, decision: Measure) -> None:
        """Save a decision before it is measured: a search that is killed then goes on with it."""
        self.decisions.append(decision)
        self.save()

    def save(self) -> None:
        files.make_folder(self.folder)
        record = {"request": asdict(self.request), "candidates": self.candidates, "decisions": self.decisions}
        files.write_json(self.folder / "search.json", record)


def load_state(store: Store, request: BisectRequest) -> State | None:
    """Read the decisions of a search, unless it is new, or an older version's."""
    folder = store.bisect(request.key)
    record = files.read_json(folder / "search.json")
    try:
        candidates = [Candidate(*map(str, fields)) for fields in record["candidates"]]
        decisions = [
            Measure(tuple(map(int, indexes)), int(loads), str(why)) for indexes, loads, why in record["decisions"]
        ]
    except (KeyError, TypeError, ValueError):
        return None
    return State(folder, request, candidates, decisions)


class Bisection(Struct):
    """The loop of a search: decide, measure, read, until the change is found."""

    state: State
    measurement: Measurement
    is_lower_better: bool
    readings: dict[int, Reading] = {}

    def run(self, retry: bool = False) -> Findings:
        """Search; `retry`: candidates that failed before are tried again."""
        # the last decision about a candidate has all of its loads
        newest = {index: decision for decision in self.state.decisions for index in decision.candidates}
        for decision in dict.fromkeys(newest.values()):
            self._measure(decision, retry)
        while isinstance(step := next_step(self.question, self.evidence), Measure):
            names = ", ".join(self.state.candidates[index].name for index in step.candidates)
            _say(f"measure {names} ({counted(step.loads, 'load')}): {'; '.join([step.why, *self._outlook(step)])}")
            self.state.decide(step)
            self._measure(step)
        if isinstance(step, Unanswered) and self.state.request.metric:
            step = self._name_other_metric(step)
        return Findings(self.state.request, self.state.candidates, step, dict(self.readings), self.evidence)

    @property
    def question(self) -> Question:
        request = self.state.request
        costs = [
            reading.build_seconds / reading.load_seconds
            for reading in self.readings.values()
            if reading.build_seconds and reading.load_seconds
        ]
        threshold = 0.0 if request.claim else None
        return Question(len(self.state.candidates), math.log1p(request.by), threshold, max([BUILD_COST, *costs]))

    @property
    def evidence(self) -> Evidence:
        sign = -1 if self.is_lower_better else 1
        samples = {
            index: tuple(sign * math.log(figure) for figure in reading.figures)
            for index, reading in self.readings.items()
            if reading.figures
        }
        unusable = frozenset(self.readings.keys() - samples.keys())
        return Evidence(samples, unusable, self.is_lower_better)

    def _outlook(self, step: Measure) -> Iterator[str]:
        """Name the likeliest candidate so far, and the time that loads may still take."""
        samples, count = self.evidence.samples, len(self.state.candidates)
        if {0, count - 1} <= samples.keys():
            change = change_point(count, samples)
            index = change.most_probable()
            share = show_probability(float(change.probability[index]))
            yield f"likeliest so far {self.state.candidates[index + 1].name}, probability {share}"
        seconds = [reading.load_seconds for reading in self.readings.values() if reading.load_seconds]
        if seconds:
            expected, loads = forecast(self.question), sum(map(len, samples.values()))
            least, most = (max(total - loads, step.loads) for total in (expected.loads, expected.most_loads))
            yield f"about {duration(fmean(seconds) * least)} to {duration(fmean(seconds) * most)} of loads left"

    def _name_other_metric(self, answer: Unanswered) -> Unanswered:
        """Add the metric by which the ends differ most, where the one that was asked for does not tell them apart."""
        ends = self.question.ends
        loads = min(len(self.readings[end].figures) for end in ends if end in self.readings)
        difference = self.measurement.clearest_difference(Measure(ends, loads, "")) if loads > 1 else None
        if difference is None:
            return answer
        name, ratio = difference
        return Unanswered(f"{answer.why}. By `{name}` they do, {units.ratio(ratio)}: search with `--metric {name}`")

    def _measure(self, decision: Measure, retry: bool = False) -> None:
        if not self.measurement.is_over(decision, retry):
            self.measurement.run(decision)
        for index, reading in list(self.measurement.readings(decision)):
            if reading.lacking and reading != self.readings.get(index):
                _say(f"skip {self.state.candidates[index].name}: {reading.lacking}")
            self.readings[index] = reading


class Session(Struct, frozen=True):
    store: Store
    plan: Plan  # of the spec as it is
    request: BisectRequest
    command: str

    def forecast(self) -> str:
        """Estimate the cost of the search; nothing is measured."""
        search = self._search()
        expected = forecast(search.question)
        pair = Measure(search.question.ends, 1, "")
        nodes = StatusReader(self.store, search.measurement.plan(pair)).read().nodes.values()
        seconds = sum((node.seconds or 0.0) * max(node.times, 1) for node in nodes if not node.is_build) / 2
        time, longest = duration(seconds * expected.loads), duration(seconds * expected.most_loads)
        return (
            f"{counted(len(search.state.candidates) - 1, 'candidate')} after the good one\n"
            f"builds: {expected.builds}, at most {expected.most_builds} in 19 of 20 searches\n"
            f"loads: {expected.loads}, at most {expected.most_loads}, "
            f"of {duration(seconds)} each: {time}, at most {longest}\n"
            f"assumed: a change of the size that is looked for, {units.percent(NOISE)} noise of a load, "
            "nothing measured yet"
        )

    def run(self, retry: bool = False) -> BisectReport:
        search = self._search()
        search.state.save()
        findings = search.run(retry)
        changes, defaults, pages = dict[str, str](), list[str](), list[str]()
        if isinstance(findings.answer, Found):
            defaults, page = self._compare_pair(findings.answer, search)
            pages = [page]
        if self.request.commits:
            build = next(iter(find_family(self.plan, self.request.family).builds.values()))
            suspects = findings.suspects[:_MOST_SUSPECTS]
            changes = {candidate.name: describe_commit(build, candidate.ref) for candidate in suspects}
        return BisectReport(search.state.folder, findings, changes, defaults, pages, self.command)

    def _search(self) -> Bisection:
        request, state = self.request, load_state(self.store, self.request)
        if state is None:
            state = State(self.store.bisect(request.key), request, list_candidates(request, self.plan))
        claim = find_claim(self.plan, request.claim) if request.claim else None
        measurement = Measurement(self.store, request, claim, state.candidates)
        return Bisection(state, measurement, bool(request.metric) and is_lower_better(self.plan, request.metric))

    def _compare_pair(self, answer: Found, search: Bisection) -> tuple[list[str], str]:
        """List defaults that differ between the last good and the first bad one, and the page of both."""
        ends = answer.low, answer.high
        pair = Measure(ends, min(len(search.readings[index].figures) for index in ends), "")
        search.measurement.report(pair)
        plan = search.measurement.plan(pair)
        builds = {cell.labels[BUILD]: cell.build for cell in plan.cells}
        low, high = (
            build_catalogue(self.store, builds[self.request.label(search.state.candidates[index])]) or {}
            for index in ends
        )
        lines = []
        for difference in differences(low, high):
            if difference.kind == DEFAULT and difference.first and difference.second:
                before, after = (cut(default(info), _DEFAULT_WIDTH) for info in (difference.first, difference.second))
                lines.append(f"{difference.option}: {before} -> {after}")
        return lines, str(self.store.summary(plan.digest) / SUMMARY_PAGE)


def _say(text: str) -> None:
    print(f"bisect: {text}", file=sys.stderr, flush=True)
