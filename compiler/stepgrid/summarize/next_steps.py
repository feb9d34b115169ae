"""Next steps of a reader: what would give the verdicts that a report lacks, and commands to paste."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import NamedTuple

from stepgrid.model.plan import MOST_LOADS, is_imported
from stepgrid.model.units import counted, percent
from stepgrid.plan.estimate import DIFFERENCE
from stepgrid.summarize.claims.claim_judgement import UNDECIDED
from stepgrid.summarize.comparisons import needed_loads
from stepgrid.summarize.comparisons.builds import NO_VERDICT
from stepgrid.summarize.comparisons.conditions import OTHER_HOST
from stepgrid.summarize.findings import ArmCase, arms
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.verdicts import INCONCLUSIVE, ONE_LOAD

USUAL_LOADS = 3  # loads that give verdicts, as a rule


class NextStep(NamedTuple):
    command: str
    why: str


def next_steps(report: Report) -> list[NextStep]:
    """List commands to paste, the most urgent first."""
    spec = spec_words(report)
    steps = []
    if not is_imported(report.setup.spec):
        steps += [*_disturbed(report, spec), *_runs(report, spec)]
    if report.comparisons.claims:
        steps.append((f"report {spec} --table claims", "every claim at every point, with its numbers"))
    steps.append((f"explain {spec}", "every option and setting of every cell, with the line that it comes from"))
    steps.append((f"compare {report.setup.plan} {spec}", "later results beside these"))
    return [NextStep(f"stepgrid {command}", why) for command, why in steps]


def spec_words(report: Report) -> str:
    """Return the words that name a report's spec and scale on a command line."""
    spec = report.setup.plan if is_imported(report.setup.spec) else report.setup.spec
    return shlex.join([spec, *(["--scale", report.setup.scale] if report.setup.scale else [])])


def _disturbed(report: Report, spec: str) -> Iterator[tuple[str, str]]:
    disturbed = sum("warning" in facts for facts in report.data.facts.get("noise", {}).values())
    if disturbed:
        marks = f"marks the {counted(disturbed, 'disturbed stage')}; the next `run` measures them again"
        yield f"redo {spec} --disturbed", marks
        yield f"doctor {spec}", "checks this host for noise and shows how to fix it"


def _runs(report: Report, spec: str) -> Iterator[tuple[str, str]]:
    setup, words = report.setup, {case.word for case in _cases(report)}
    has_open_claims = any(claim.result == UNDECIDED for claim in report.comparisons.claims)
    if report.notes.coverage.incomplete:
        yield f"run {spec}", "measures what has no figures yet, and nothing twice"
    loads = setup.loads[1]
    if loads < USUAL_LOADS and (ONE_LOAD in words or has_open_claims):
        yield (
            f"run {spec} --set repeat={USUAL_LOADS}",
            f"{USUAL_LOADS} loads of each cell, enough for verdicts as a rule",
        )
    elif not setup.until and INCONCLUSIVE in words:
        wanted = loads_wanted(report)
        if wanted is None or wanted > needed_loads.PATIENCE:
            yield f"plan {spec} --budget 2h", "shows which loads, runs and durations would tell most in two hours"
        elif wanted > loads:
            yield (
                f"run {spec} --set repeat={wanted}",
                f"{wanted} loads would show {percent(DIFFERENCE)} at half of the undecided points",
            )
    elif not setup.until and (has_open_claims or not report.notes.coverage.incomplete):
        yield (
            f"run {spec} --set repeat={2 * loads}",
            "twice the loads: intervals a third narrower, nothing measured twice",
        )
    if setup.scale:
        why = f"the sizes and durations of the spec, in place of scale {setup.scale}"
        yield f"run {shlex.quote(setup.spec)}", why


# Verdicts that a report lacks


def advice(report: Report) -> list[str]:
    """Say what would give the verdicts that the report lacks."""
    words = {case.word for case in _cases(report)}
    refusals = [case.entry.refusal or "" for case in _cases(report) if case.word == NO_VERDICT]
    lines = []
    if ONE_LOAD in words:
        lines.append(f"One load gives no verdict: `repeat: {USUAL_LOADS}` or more does.")
    if INCONCLUSIVE in words:
        lines.append(_loads_advice(report))
    if any(text.startswith(OTHER_HOST) for text in refusals):
        lines.append("Arms of two hosts get no verdict: measure them on one, or compare hosts by `hardware`.")
    if any(not text.startswith(OTHER_HOST) for text in refusals):
        lines.append("Build both alike for a verdict; `allow: {mixed-quality: REASON}` gives one as shipped.")
    return lines


def loads_wanted(report: Report) -> int | None:
    """Return the loads that would decide half of what is undecided; None: too many, or more loads would not help."""
    return needed_loads.wanted(_wide_intervals(report))


def _cases(report: Report) -> list[ArmCase]:
    return [case for comparison in report.comparisons.leading for arm in arms(comparison) for case in arm.compared]


def _wide_intervals(report: Report) -> list[Interval]:
    intervals = [case.entry.interval for case in _cases(report) if case.word == INCONCLUSIVE and case.entry.interval]
    return needed_loads.too_wide(intervals, report.setup.effect)


def _loads_advice(report: Report) -> str:
    if not _wide_intervals(report):
        return "Undecided ratios are within the noise floor of this experiment: a quieter host would tell."
    wanted, difference = loads_wanted(report), percent(DIFFERENCE)
    if wanted is not None and wanted <= report.setup.loads[1]:
        return f"These loads show {difference} at half of the undecided points; smaller differences need more loads."
    if wanted is None or wanted > needed_loads.PATIENCE:
        loads = f"over {MOST_LOADS}" if wanted is None else wanted
        return f"{loads} loads, longer steps or a quieter host would show {difference} at half of the undecided points."
    return f"`repeat: {wanted}` would show {difference} at half of the undecided points."
