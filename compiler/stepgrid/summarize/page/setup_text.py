"""What was run, and what may be run next, in the words of the text: a table would be as wide as its longest value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stepgrid.host.terminal_output import wrap
from stepgrid.summarize.formats import SENTENCES
from stepgrid.summarize.notes import step_settings
from stepgrid.summarize.page import next_steps
from stepgrid.summarize.report import Report


def sections(report: Report) -> Iterator[list[str]]:
    if report.setup.settings or report.setup.common:
        arms = (pair for each in report.setup.settings for pair in each.sentences)
        yield _titled("what the arms set", (f"{label}: {said}" for label, said in (*arms, *report.setup.common)))
    if report.setup.steps:
        yield _titled(
            "what the steps do", step_settings.sentences(report.setup.steps, report.comparisons.points_by_step)
        )


def what_next(report: Report) -> list[str]:
    lines = ["what next", "---------"]
    for step in next_steps.next_steps(report):
        lines += [f"  {step.command}", *wrap(step.why, "    ", width=SENTENCES)]  # a command is not broken
    return lines


def _titled(title: str, sentences: Iterable[str]) -> list[str]:
    return [title, "-" * len(title), *(line for said in sentences for line in wrap(said, "  ", "    ", SENTENCES))]
