"""What a reader of a report may do next, as commands to paste: in the text and on the page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import NamedTuple

from stepgrid.model.plan import MOST_LOADS, is_imported
from stepgrid.model.units import counted, percent
from stepgrid.plan.estimate import DIFFERENCE
from stepgrid.summarize.claims import UNDECIDED
from stepgrid.summarize.page import answer
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.verdicts import INCONCLUSIVE, ONE_LOAD

COST = "; `stepgrid plan` in place of `stepgrid run` says how long it takes"
USUAL_LOADS = 3  # loads that give verdicts, as a rule


class NextStep(NamedTuple):
    command: str
    why: str


def next_steps(report: Report) -> list[NextStep]:
    return [NextStep(f"stepgrid {command}", why) for command, why in _all(report)]


def _all(report: Report) -> Iterator[tuple[str, str]]:
    named = report.setup.plan if is_imported(report.setup.spec) else report.setup.spec
    spec = shlex.join([named, *(["--scale", report.setup.scale] if report.setup.scale else [])])
    if not is_imported(report.setup.spec):
        yield from _runs(report, spec)
        yield from _quiet(report, spec)
    if report.comparisons.claims:
        yield f"report {spec} --table claims", "every claim at every point, with its numbers"
    yield f"explain {spec}", "every option and setting of every cell, with the line that it comes from"
    yield f"compare {report.setup.plan} {spec}", "later results beside these: after a change, or of another day"


def _runs(report: Report, spec: str) -> Iterator[tuple[str, str]]:
    if report.notes.coverage.incomplete:
        yield f"run {spec}", "measures what has no figures yet, and nothing twice"
    loads, words = report.setup.loads[1], answer.words(report)
    if loads < USUAL_LOADS and (ONE_LOAD in words or _undecided(report)):
        more = f"{USUAL_LOADS} loads of each cell: one gives no verdict, two seldom do{COST}"
        yield f"run {spec} --set repeat={USUAL_LOADS}", more
    elif (
        not report.setup.until
        and INCONCLUSIVE in words
        and ((wanted := answer.loads_wanted(report)) or MOST_LOADS) > loads
    ):
        yield _more(spec, wanted)
    elif not report.setup.until and _undecided(report):
        more = f"twice the loads: intervals narrow, nothing is measured twice{COST}"
        yield f"run {spec} --set repeat={2 * loads}", more
    elif not report.setup.until and not report.notes.coverage.incomplete:
        more = f"surer: twice the loads make intervals a third narrower, and nothing is measured twice{COST}"
        yield f"run {spec} --set repeat={2 * loads}", more
    if report.setup.scale:
        yield (
            f"run {shlex.quote(report.setup.spec)}",
            f"the whole: sizes and durations of the spec, not of {report.setup.scale}",
        )


def _more(spec: str, wanted: int | None) -> tuple[str, str]:
    if wanted is None or wanted > verdicts.PATIENCE:
        return f"plan {spec} --budget 2h", "which loads, runs and durations would tell most in two hours"
    more = f"enough to see {percent(DIFFERENCE)} at half of what is inconclusive; nothing is measured twice{COST}"
    return f"run {spec} --set repeat={wanted}", more


def _quiet(report: Report, spec: str) -> Iterator[tuple[str, str]]:
    disturbed = sum("warning" in found for found in report.data.facts.get("noise", {}).values())
    if disturbed:
        yield f"doctor {spec}", "what keeps this host from being quiet, and how to mend it"
        again = (
            f"then: the next run measures again the loads before whose {counted(disturbed, 'stage')} it was not quiet"
        )
        yield f"redo {spec} --disturbed", again


def _undecided(report: Report) -> bool:
    return any(claim.result == UNDECIDED for claim in report.comparisons.claims)
