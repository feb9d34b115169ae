"""The report of a search: its findings as text for the terminal, and as a page beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean

from msgspec import Struct

from stepgrid.host.files import write_text
from stepgrid.model import units
from stepgrid.model.table import NOTHING, Cell, Column, Table
from stepgrid.model.units import counted
from stepgrid.store.paths import SUMMARY_PAGE, SUMMARY_TEXT
from stepgrid.summarize import formats
from stepgrid.summarize.statistics.confidence_intervals import special
from stepgrid_investigate.bisect.measurement import Reading
from stepgrid_investigate.bisect.question import BisectRequest, Candidate
from stepgrid_investigate.bisect.search import ChangePoint, Evidence, Found, Unanswered, change_point
from stepgrid_page import drawing
from stepgrid_page.drawing import Scale
from stepgrid_page.html_page import render

_MOST_ERRORS = 3.5  # standard errors from its level: it may belong to neither
_ALMOST = 0.999


class Findings(Struct, frozen=True, dict=True):
    """The outcome of a search, and its statistics; the search's logarithms have less for worse."""

    request: BisectRequest
    candidates: Sequence[Candidate]
    answer: Found | Unanswered
    readings: Mapping[int, Reading]
    evidence: Evidence

    @property
    def is_found(self) -> bool:
        return isinstance(self.answer, Found)

    @property
    def suspects(self) -> Sequence[Candidate]:
        """Candidates of which one is the change."""
        return self.candidates[self.answer.low + 1 : self.answer.high + 1] if isinstance(self.answer, Found) else ()

    @property
    def loads(self) -> int:
        return sum(len(reading.figures) for reading in self.readings.values())

    @cached_property
    def change(self) -> ChangePoint | None:
        """The place of the change, if both ends were measured."""
        samples, count = self.evidence.samples, len(self.candidates)
        return change_point(count, samples) if {0, count - 1} <= samples.keys() else None

    def probability(self, index: int) -> float:
        return float(self.change.probability[index - 1]) if self.change is not None and index else 0.0

    def level_ratio(self, change: ChangePoint) -> str:
        """Show the ratio of the level after the change to that before it, by all loads."""
        middle = change.most_probable()
        loads = float(change.figures_before[middle]), float(change.figures_after[middle])
        return self._ratio(change, float(change.after[middle] - change.before[middle]), loads)

    def neighbour_ratio(self, change: ChangePoint, answer: Found) -> str:
        """Show the ratio of the first bad candidate to the last good one."""
        good, bad = self.evidence.samples[answer.low], self.evidence.samples[answer.high]
        return self._ratio(change, fmean(bad) - fmean(good), (len(good), len(bad)))

    def _ratio(self, change: ChangePoint, distance: float, loads: tuple[float, float]) -> str:
        """Show a ratio with its interval of 95 %, by the noise of all loads."""
        error = change.noise_of_load * math.sqrt(1 / loads[0] + 1 / loads[1])
        half = special("stdtrit", change.freedom, 0.975) * error
        sign = -1 if self.evidence.lower_is_better else 1
        low, high = sorted(math.exp(sign * (distance + side)) for side in (-half, half))
        return units.ratio_with_interval(math.exp(sign * distance), low, high)

    def off_levels(self, change: ChangePoint) -> Iterator[str]:
        """Name candidates far from their level: there may be more changes than one."""
        middle = change.most_probable()
        for index, logs in sorted(self.evidence.samples.items()):
            level = float((change.after if index > middle else change.before)[middle])
            if abs(fmean(logs) - level) > _MOST_ERRORS * change.noise_of_load / math.sqrt(len(logs)):
                yield self.candidates[index].name


class BisectReport(Struct, frozen=True):
    folder: Path
    findings: Findings
    changes: Mapping[str, str]  # suspect -> what it changed, in the repository's words
    defaults: Sequence[str]  # options whose defaults differ between the last good and the first bad one
    pages: Sequence[str]  # reports of the two, with charts, counters and CPU
    command: str


def write_report(report: BisectReport) -> str:
    """Write the page and the text, and return the text."""
    findings = report.findings
    values = {
        "title": title(findings),
        "answer": answer_lines(findings),
        "cost": cost(findings),
        "table": formats.html_body(table(findings)),
        "picture": "" if findings.change is None else _chart(findings, findings.change),
        "report": report,
    }
    page = render("bisect.html.j2", values, script=False)
    summary_file, page_file = report.folder / SUMMARY_TEXT, report.folder / SUMMARY_PAGE
    write_text(page_file, page)
    summary = "\n".join([*_text_lines(report), "", str(summary_file), str(page_file)])
    write_text(summary_file, f"{summary}\n")
    return summary


def _text_lines(report: BisectReport) -> Iterator[str]:
    findings = report.findings
    yield title(findings)
    yield from (f"  {line}" for line in (*answer_lines(findings), cost(findings)))
    yield from ("", formats.text_table(table(findings)).rstrip("\n"))
    sections = {f"what {name} changed": change.splitlines() for name, change in report.changes.items()}
    if report.defaults:
        sections["defaults that differ"] = [*report.defaults]
    for heading, lines in sections.items():
        yield from ("", heading, "-" * len(heading), *(f"  {line}".rstrip() for line in lines))
    if report.pages:
        yield from ("", *(f"report of the two: {page}" for page in report.pages))


def title(findings: Findings) -> str:
    request, candidates = findings.request, findings.candidates
    subject = f"claim `{request.claim}`" if request.claim else f"{request.metric} of {request.step}"
    count = counted(len(candidates) - 1, "commit" if request.commits else "release")
    ends = f"{candidates[0].name} (good) to {candidates[-1].name} (bad)"
    return f"{subject}, {request.family} {ends}: {count} after the good one"


def answer_lines(findings: Findings) -> list[str]:
    answer, change = findings.answer, findings.change
    if isinstance(answer, Unanswered):
        return [f"not found: {answer.why}"]
    names = [candidate.name for candidate in findings.suspects]
    verb = "is" if len(names) == 1 else "is among"
    lines = [f"the first bad one {verb} {', '.join(names)} (probability {show_probability(answer.probability)})"]
    if len(names) > 1:
        lines.append(f"{counted(len(names) - 1, 'candidate')} between the two neighbours could not be measured")
    if change is not None:
        figure = "the claim's ratio" if findings.request.claim else findings.request.metric
        good, bad = findings.candidates[answer.low].name, findings.candidates[answer.high].name
        loads = counted(findings.loads, "load")
        lines.append(f"{figure} after against before the change: {findings.level_ratio(change)}, by {loads}")
        lines.append(f"{figure} of {bad} against {good}: {findings.neighbour_ratio(change, answer)}")
        if names := [*findings.off_levels(change)]:
            lines.append(f"on neither level: {', '.join(names)}. There may be more changes than one")
    return lines


def cost(findings: Findings) -> str:
    noise = ""
    if findings.change is not None:
        noise = f"; noise of a load: {units.percent(round(findings.change.noise_of_load, 4))}"
    builds, loads = counted(len(findings.readings), "build"), counted(findings.loads, "load")
    return f"{builds} of {len(findings.candidates)} tried, {loads} measured{noise}"


def table(findings: Findings) -> Table:
    """List the candidates that were measured, or tried."""
    is_commits = findings.request.commits
    columns = [Column("candidate", label=True), *([Column("date", label=True)] if is_commits else [])]
    columns += [Column("loads"), Column(findings.request.subject), Column("first bad one")]
    rows = []
    for index, reading in sorted(findings.readings.items()):
        candidate, figures = findings.candidates[index], reading.figures
        texts = [candidate.name, *([candidate.date] if is_commits else []), str(len(figures))]
        texts += [units.figure(math.exp(fmean(map(math.log, figures)))) if figures else NOTHING]
        texts += [show_probability(findings.probability(index))]
        texts += [f"skipped: {reading.lacking}" if reading.lacking else candidate.subject]
        rows.append(tuple(map(Cell, texts)))
    return Table("measured", (*columns, Column("subject" if is_commits else "", is_text=True)), tuple(rows))


def show_probability(share: float) -> str:
    """Format a probability; certainty is never claimed."""
    if share > _ALMOST:
        return f"over {units.percent(_ALMOST)}"
    return f"under {units.percent(1 - _ALMOST)}" if share < 1 - _ALMOST else units.percent(share)


def _chart(findings: Findings, change: ChangePoint) -> str:
    """Draw the figures of each candidate above how probable each is to be the first bad one."""
    names = [candidate.name for candidate in findings.candidates]
    figures = [findings.readings.get(index, Reading()).figures for index in range(len(names))]
    shares = [0.0, *change.probability.tolist()]
    edge, top, width, height, gap, bars = 60.0, 20.0, 620.0, 200.0, 24.0, 70.0
    y = drawing.scale([value for row in figures for value in row], top + height, top)
    foot = top + height + gap + bars
    share_scale = Scale(0.0, 1.0, foot, foot - bars)
    parts = [
        drawing.y_axis(y, edge, edge + width, findings.request.subject),
        drawing.y_axis(share_scale, edge, edge + width, "probability"),
    ]
    step = width / len(names)
    stride = 1 + int(len(names) * 14 // width)  # of the names as many as have room
    for number, (name, row, share) in enumerate(zip(names, figures, shares, strict=True)):
        x, level = edge + (number + 0.5) * step, share_scale(share)
        for value in row:
            mark = drawing.shape((x, y(value)), 0, 4)
            parts.append(drawing.of_arm(name, 0, mark, title=f"{name}: {drawing.short(value)}"))
        if share > 0:
            parts.append(drawing.rectangle((x - step * 0.4, level), (step * 0.8, foot - level), "soft"))
        if number % stride == 0:
            spot = x + 4, foot + 12
            turned = f"rotate(-60 {spot[0]:g} {spot[1]:g})"
            parts.append(f'<g transform="{turned}">{drawing.text(spot, name, "end")}</g>')
    title = "Figures of each load, and the probability of each candidate"
    return drawing.svg(title, edge + width + 8, foot + drawing.text_width(names) * 0.9 + 20, *parts)
