"""The job summary of GitHub Actions, in Markdown: the answer, the claims, the doubts and the comparisons."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stepgrid.summarize import claims, formats
from stepgrid.summarize.comparisons.comparison_table import comparison_table
from stepgrid.summarize.page import answer
from stepgrid.summarize.provenance import measured_text, origin_line
from stepgrid.summarize.report import Report

VARIABLE = "GITHUB_STEP_SUMMARY"  # the file that a step appends it to
MOST_BYTES = 900_000  # bytes; GitHub takes a MiB


def append(report: Report) -> None:
    """To the summary of the step, where this is one."""
    if path := os.environ.get(VARIABLE):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text(report))


def text(report: Report) -> str:
    whole = "\n".join(_parts(report))
    while len(whole.encode()) > MOST_BYTES:
        whole = whole[: len(whole) // 2] + "\n\n…\n"
    return whole


def _parts(report: Report) -> Iterator[str]:
    yield f"# {formats.escape_markdown(report.setup.title)}\n"
    yield from (f"- {formats.escape_markdown(line)}" for line in answer.lines(report))
    if report.comparisons.claims:
        yield "\n## Claims\n"
        for claim in report.comparisons.claims:
            yield f"- **{claim.result}**: {formats.escape_markdown(claim.claim + claims.scope(claim))}"
            yield from (f"  - {formats.escape_markdown(claims.case_words(case))}" for case in claims.first_cases(claim))
    if report.notes.warnings:
        yield "\n## Before you believe it\n"
        yield from (f"- {formats.escape_markdown(each)}" for each in report.notes.warnings)
    yield from (f"\n{formats.markdown_table(comparison_table(found))}" for found in report.comparisons.all)
    texts = origin_line(report.setup), measured_text(report.setup, report.data.facts)
    made_from, measured = map(formats.escape_markdown, texts)
    yield f"\n{made_from}; measured {measured}\n"
