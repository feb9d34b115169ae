"""The report of a search: text for the terminal, and a page beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepgrid.bisect import report_words
from stepgrid.bisect.findings import Findings
from stepgrid.host.files import write_text
from stepgrid.package import TEMPLATES
from stepgrid.summarize.formats import html, text
from stepgrid.summarize.page import content_policy

TEXT, PAGE = "summary.txt", "index.html"


@dataclass(frozen=True, slots=True)
class BisectReport:
    found: Findings
    changes: Mapping[str, str]  # suspect -> what it changed, in the repository's words
    defaults: Sequence[str]  # options whose defaults differ between the last good and the first bad one
    pages: Sequence[str]  # reports of the two, with charts, counters and CPU
    command: str


def written(report: BisectReport, folder: Path) -> str:
    """The text; both files are there when it comes back."""
    write_text(folder / PAGE, _page(report))
    said = "\n".join([*_lines(report), "", str(folder / TEXT), str(folder / PAGE)])
    write_text(folder / TEXT, f"{said}\n")
    return said


def _lines(report: BisectReport) -> Iterator[str]:
    found = report.found
    yield report_words.title(found)
    yield from (f"  {line}" for line in report_words.answer(found))
    yield f"  {report_words.cost(found)}"
    yield ""
    yield text.table(report_words.table(found)).rstrip("\n")
    for name, said in report.changes.items():
        yield from (
            "",
            f"what {name} changed",
            "-" * (len(name) + 13),
            *(f"  {line}".rstrip() for line in said.splitlines()),
        )
    if report.defaults:
        yield from ("", "defaults that differ", "--------------------", *(f"  {line}" for line in report.defaults))
    if report.pages:
        yield from ("", *(f"report of the two: {page}" for page in report.pages))


def _page(report: BisectReport) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from stepgrid.bisect import chart

    loader = FileSystemLoader(TEMPLATES / "report")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("bisect.html.j2").render(
        **content_policy.context(TEMPLATES / "report", script=False),
        title=report_words.title(report.found),
        answer=report_words.answer(report.found),
        cost=report_words.cost(report.found),
        table=html.body(report_words.table(report.found)),
        picture=chart.picture(report.found) if report.found.change is not None else "",
        report=report,
    )
