"""One call of `stepgrid bisect`: begins a search or goes on with it, forecasts it, reports it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stepgrid.bisect import report, repository, spec_builds
from stepgrid.bisect.bisection import Bisection
from stepgrid.bisect.findings import Findings, findings
from stepgrid.bisect.forecast import forecast, words
from stepgrid.bisect.measurement import Measurement
from stepgrid.bisect.question import candidates_of
from stepgrid.bisect.request import Request, SearchError
from stepgrid.bisect.state import Decision, State, kept
from stepgrid.build.option_difference import DEFAULT, Catalogue, default, differences
from stepgrid.model.plan import Plan
from stepgrid.store.builds import catalogue
from stepgrid.store.store import Store
from stepgrid.summarize.formats.text import cut
from stepgrid.workflow.run_preview import preview_run

_MOST = 3  # suspects whose changes are shown
_WIDTH = 40  # of a default: some are long lists


@dataclass(frozen=True, slots=True)
class Session:
    store: Store
    plan: Plan  # of the spec as it is
    request: Request
    command: str

    def forecast(self) -> str:
        """What the search would cost; nothing is measured."""
        search = self._search()
        expected = forecast(search.question)
        ends = preview_run(search.measurement.plan(Decision((0, len(search.state.candidates) - 1), 1, "")), self.store)
        stages = [node.seconds for node in ends.nodes if not node.status.is_build]
        load = sum(each or 0.0 for each in stages) / 2
        return words(len(search.state.candidates) - 1, expected, load)

    def run(self, retry: bool = False) -> tuple[str, bool]:
        """The report, and whether the change was found."""
        search = self._search()
        search.state.save()
        outcome = search.run(retry)
        found = findings(self.request, search.state.candidates, outcome)
        said = report.BisectReport(found, self._changes(found), *self._pair(found, search), self.command)
        return report.written(said, search.state.folder), found.found is not None

    def _search(self) -> Bisection:
        state = kept(self.store, self.request)
        if state is None:
            candidates = candidates_of(self.request, self.plan)
            state = State(self.store.bisect(self.request.key), self.request, candidates)
        claim = spec_builds.claim(self.plan, self.request.claim) if self.request.claim else None
        measurement = Measurement(self.store, self.request, claim, state.candidates)
        lower = bool(self.request.metric) and spec_builds.better(self.plan, self.request.metric) == "lower"
        return Bisection(state, measurement, lower, _say)

    def _changes(self, found: Findings) -> Mapping[str, str]:
        if not self.request.commits:
            return {}
        return {each.name: self._changes_of(each.ref) for each in found.suspects[:_MOST]}

    def _changes_of(self, commit: str) -> str:
        """The answer counts more than what it changed: a repository that is gone does not take it away."""
        try:
            return repository.changes(
                next(iter(spec_builds.family(self.plan, self.request.family).builds.values())), commit
            )
        except SearchError as error:
            return f"commit {commit}: {error}"

    def _pair(self, found: Findings, search: Bisection) -> tuple[list[str], list[str]]:
        """Defaults that differ between the last good and the first bad one, and the report of both."""
        if found.found is None:
            return [], []
        ends = found.found.low, found.found.high
        loads = min(len(found.outcome.readings[place].figures) for place in ends)
        pair = Decision(ends, loads, "")
        search.measurement.report(pair)
        plan = search.measurement.plan(pair)
        of = {cell.labels["build"]: cell.build for cell in plan.cells}
        low, high = (catalogue(self.store, of[self.request.label(found.candidates[place])]) for place in ends)
        return list(_defaults(low or {}, high or {})), [str(self.store.summary(plan.digest) / report.PAGE)]


def _defaults(low: Catalogue, high: Catalogue) -> Iterator[str]:
    for each in differences(low, high):
        if each.kind == DEFAULT and each.first and each.second:
            yield f"{each.option}: {cut(default(each.first), _WIDTH)} -> {cut(default(each.second), _WIDTH)}"


def _say(text: str) -> None:
    print(f"bisect: {text}", file=sys.stderr, flush=True)
