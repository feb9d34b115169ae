"""Brief of a report: at most 18 lines for a terminal of 80 or 100 columns, at the end of a run and of `report`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from stepgrid.host.terminal_output import INDENT, Paint, wrap
from stepgrid.model import units
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import BUILD
from stepgrid.model.table import ABSENT
from stepgrid.model.units import counted, percent
from stepgrid.store.store import BRIEF_WIDTHS
from stepgrid.summarize import claims, sentences
from stepgrid.summarize.causes import DASH
from stepgrid.summarize.comparisons.comparison import RATIO, ComparedMetric, Comparison, Entry
from stepgrid.summarize.findings import findings, short_build
from stepgrid.summarize.formats import text_lines
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_tables import search_tables
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.verdicts import ARROWS

MOST_LINES, MOST_ROWS = 18, 6
LABEL = 13  # columns of the names of lines
_MARKS = {**ARROWS, verdicts.DIFFERENT: "≠", verdicts.INCONCLUSIVE: "?"}
_STYLES = {verdicts.FASTER: "green", verdicts.BETTER: "green", verdicts.SLOWER: "red", verdicts.WORSE: "red"}
_MEANINGS = {
    "=": "the same within {effect}",
    "≠": "differs, perhaps by less than {effect}",
    "?": "undecided",
    "*": "no verdict",
}


class _Text(NamedTuple):
    text: str
    style: str | None = None


class _Line(NamedTuple):
    label: str
    cells: Sequence[_Text]


def brief_by_width(report: Report, page: Path) -> dict[str, list[str]]:
    """Write the lines for each width, with colours, which whoever prints them elsewhere takes away."""
    return {str(width): brief_lines(report, page, width, Paint(is_coloured=True)) for width in BRIEF_WIDTHS}


def brief_lines(report: Report, page: Path | None, width: int, paint: Paint) -> list[str]:
    """Write title, table, legend, doubts, page and the next command; no line is broken within a word."""
    lines = [
        paint(fit(report.setup.title, width), "bold"),
        *(paint(line, "yellow") for line in _banners(report, width)),
    ]
    lines += _table(report, width, paint)
    page_lines = [f"{INDENT}{'page':<{LABEL}}{page}"] if page else []
    command_lines = _fold("next", _next_command(report), width - 2)  # room for the sign that a command goes on
    next_lines = [*(f"{line} \\" for line in command_lines[:-1]), command_lines[-1]]
    entries = [(label, text) for label, text in _entries(report) if text]
    room = MOST_LINES - len(lines) - len(page_lines) - len(next_lines)
    for number, (label, text) in enumerate(entries):
        folded = _fold(label, text, width)
        if len(folded) > 2 or room - len(folded) < len(entries) - number - 1:
            folded = [fit(f"{INDENT}{label:<{LABEL}}{text}", width)]
        room -= len(folded)
        style = "yellow" if label.startswith("!") else None
        lines += [folded[0].replace(label, paint(label, style), 1), *folded[1:]]
    return [*lines, *page_lines, *next_lines]


def _fold(label: str, text: str, width: int) -> list[str]:
    return wrap(text, f"{INDENT}{label:<{LABEL}}", " " * (len(INDENT) + LABEL), width)


def fit(line: str, width: int) -> str:
    """Cut a line that is too long after a whole word."""
    if len(line) <= width:
        return line
    words = line[: width - 1]
    return f"{words if line[width - 1] == ' ' else words.rpartition(' ')[0]}".rstrip(" ,;·:") + "…"


def _banners(report: Report, width: int) -> Iterator[str]:
    if gap := sentences.incomplete(report):
        yield fit(f"{INDENT}{gap}", width)
    if banner := sentences.banner(report):
        yield f"{INDENT}{banner}"


def _entries(report: Report) -> Iterator[tuple[str, str]]:
    bases = [comparison.base for comparison in report.comparisons.leading]
    for finding in findings(report):
        if finding.base not in bases[:1]:
            axis, _, label = finding.arm.partition("=")
            yield axis, f"{label}{finding.headline.removeprefix(finding.arm)} {finding.detail}".lstrip(",: ")
    yield "why", sentences.reason_line(report)
    if report.comparisons.claims:
        yield "claims", claims.brief_count(report.comparisons.claims).partition(" ")[2]
    yield "undecided", next(iter(sentences.advice(report)), "")
    yield f"! {counted(len(report.notes.doubts), 'warning')}", sentences.doubts_line(report).partition(": ")[2]


def _next_command(report: Report) -> str:
    """Choose one: measure what is missing or more than one load, then what was disturbed, then more."""
    commands = [step.command for step in sentences.next_steps(report)]
    runs = [command for command in commands if " run " in command]
    if runs and (report.notes.coverage.incomplete or sentences.banner(report)):
        return runs[0]
    return next((command for command in commands if command.endswith("--disturbed")), commands[0])


# Table: a row for each point or, of many points, for each step


def _table(report: Report, width: int, paint: Paint) -> list[str]:
    if not report.comparisons.leading:
        return list(_figures(report, width))[:MOST_ROWS]
    comparison = report.comparisons.leading[0]
    is_pooled = len(comparison.rows) > MOST_ROWS and bool(comparison.pooled)
    rows = [*_pooled_rows(comparison)] if is_pooled else _point_rows(comparison)
    head = _head(comparison, is_pooled)
    lines = [head, *rows[:MOST_ROWS]]
    if not is_pooled and len(comparison.steps) == 1 and len(rows) > 1:
        lines += _pooled_rows(comparison)
    columns = zip(*((line.label, *(cell.text for cell in line.cells)) for line in lines), strict=True)
    widths = [max(map(len, column)) for column in columns]
    count = next((count for count in range(len(widths), 2, -1) if sum(widths[:count]) + 3 * count <= width), 2)
    texts = []
    for line in lines:
        cells = zip(line.cells, widths[1:count], strict=False)
        parts = [f"{paint(cell.text, cell.style)}{' ' * (width - len(cell.text))}" for cell, width in cells]
        texts.append("   ".join([f"{INDENT}{line.label:<{widths[0]}}", *parts]).rstrip())
    omitted = [(len(rows) - MOST_ROWS, "row"), (len(widths) - count, "arm")]
    if names := ", ".join(counted(number, noun) for number, noun in omitted if number > 0):
        texts.append(f"{INDENT}and {names} more: stepgrid report {sentences.spec_words(report)} --all")
    return [*texts, *_legend(report, comparison, lines, width)]


def _figures(report: Report, width: int) -> Iterator[str]:
    """Yield the range of each step of a report that compares nothing, and the first search of an axis."""
    metric = report.setup.metric
    for section in report.comparisons.sections[:MOST_ROWS]:
        if values := [spread[0] for point in section.points if (spread := point.spread(metric.name))]:
            ends = dict.fromkeys(map(short_figure, (min(values), max(values))))
            yield fit(f"{INDENT}{section.step}: {DASH.join(ends)} {_title(metric)}", width)
    for table in islice(search_tables(report.comparisons.searches), 1):
        yield from (fit(line, width) for line in (f"{INDENT}{table.title}", *text_lines(table, width=width)))


def _title(metric: ComparedMetric) -> str:
    """Name a metric with its unit, which everybody knows of QPS, and which the name of p99_us ends with."""
    has_unit = metric.name == QPS or metric.name.endswith(f"_{metric.unit}")
    return metric.title if has_unit or not metric.unit else f"{metric.title} ({metric.unit})"


def _head(comparison: Comparison, is_pooled: bool) -> _Line:
    """Name the base in full, and the arms by their labels."""
    is_short = len(comparison.layout.across) == 1 and comparison.layout.across != (BUILD,)
    names = [name.partition("=")[2] if is_short else name for name in comparison.arm_names]
    title = _title(comparison.metric)
    if is_pooled:
        return _Line(f"{title} / {comparison.base}", [*map(_Text, names)])
    step = f"{comparison.steps[0]} " if len(comparison.steps) == 1 else ""
    return _Line(f"{step}{title}", [_Text(comparison.base), *map(_Text, names)])


def _point_rows(comparison: Comparison) -> list[_Line]:
    """List all rows; of too many, those with the largest differences first."""
    distances = [max(entry.distance for entry in row.entries) for row in comparison.rows]
    ranked = sorted(range(len(distances)), key=lambda index: -distances[index])
    is_one_step = len(comparison.steps) == 1
    lines = []
    for row in (comparison.rows[index] for index in (*sorted(ranked[:MOST_ROWS]), *ranked[MOST_ROWS:])):
        name = comparison.point_name(row) if is_one_step else comparison.where(row)
        label = short_build(name) if comparison.layout.down == (BUILD,) and is_one_step else name or row.step
        lines.append(_Line(label, [_cell(entry, comparison) for entry in row.entries]))
    return lines


def _pooled_rows(comparison: Comparison) -> Iterator[_Line]:
    """Yield a row for each step with the ratios over all of its points."""
    for step in comparison.steps:
        ratios = {pooled.name: _ratio_text(pooled.verdict, pooled.ratio) for pooled in comparison.pooled_of(step)}
        if ratios:
            cells = [ratios.get(name, _Text("-")) for name in comparison.arm_names]
            is_table = len(comparison.rows) > MOST_ROWS
            yield _Line(step, cells) if is_table else _Line("over all", [_Text(""), *cells])


def _cell(entry: Entry, comparison: Comparison) -> _Text:
    spread = entry.point.spread(comparison.metric.name) if entry.point else None
    figure = short_figure(spread[0]) if spread else "-" if entry.kind == ABSENT else entry.kind
    if entry.kind != RATIO or entry.ratio is None:
        return _Text(figure)
    ratio = _Text(f"*{units.times(entry.ratio)}") if entry.refusal else _ratio_text(entry.verdict, entry.ratio)
    return _Text(f"{figure} {ratio.text}", ratio.style)


def _ratio_text(verdict: str | None, ratio: float) -> _Text:
    return _Text(f"{_MARKS.get(verdict or '', '')}{units.times(ratio)}", _STYLES.get(verdict or ""))


def short_figure(value: float) -> str:
    """Write three digits: 304k, 21.5k, 1.23M, 0.352."""
    for factor, suffix in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor * 0.9995:
            return f"{value / factor:#.3g}".rstrip(".") + suffix
    return f"{value:.3g}"


def _legend(report: Report, comparison: Comparison, lines: Sequence[_Line], width: int) -> list[str]:
    """Explain the marks of a table, in two lines at most."""
    cells = " ".join(cell.text for line in lines[1:] for cell in line.cells)
    effect = percent(report.setup.effect)
    arrows = [f"{ARROWS[word]} {word}" for word in comparison.metric.verdicts if ARROWS[word] in cells]
    parts = [f"{', '.join(arrows)}: the whole 95 % interval is more than {effect} from 1"] if arrows else []
    parts += [f"{mark} {text.format(effect=effect)}" for mark, text in _MEANINGS.items() if mark in cells]
    if len(comparison.rows) > MOST_ROWS and comparison.pooled:
        parts.append("ratios are over all points of a step")
    return wrap("; ".join(parts), INDENT, width=width)[:2] if parts else []
