"""Workflow commands of GitHub Actions: an annotation for each claim and for each sentence of the answer."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.language.problems import workflow_command
from stepgrid.summarize import claims
from stepgrid.summarize.claims import FAILS, HOLDS, UNDECIDED
from stepgrid.summarize.page import answer
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics.verdicts import SLOWER

LEVELS = {FAILS: "error", UNDECIDED: "warning", HOLDS: "notice"}
MOST_ANNOTATIONS = 10  # of each level GitHub shows so many of a step


def text(report: Report) -> str:
    told: dict[str, list[str]] = {}
    for level, line in _all(report):
        told.setdefault(level, []).append(line)
    return "".join(f"{line}\n" for lines in told.values() for line in lines[:MOST_ANNOTATIONS])


def _all(report: Report) -> Iterator[tuple[str, str]]:
    for claim in report.comparisons.claims:
        level = LEVELS[claim.result]
        cases = "\n".join(map(claims.case_words, claims.first_cases(claim)))
        said = f"{claim.expect}{claims.scope(claim)}\n{cases}"
        yield (
            level,
            workflow_command(level, {"file": report.setup.spec, "title": f"{claim.result}: {claim.claim}"}, said),
        )
    for each in answer.answers(report):
        level = "warning" if each.kind in (SLOWER, answer.BOTH) else "notice"
        yield level, workflow_command(level, {"title": report.setup.title}, each.text)
