"""A report in Markdown, to be pasted into a post or an issue."""

from __future__ import annotations

from collections.abc import Iterable

from stepgrid.model import units
from stepgrid.model.table import ABSENT, NOTHING, Cell, Column, Table
from stepgrid.summarize import absolute_figures, claims, next_action, sentences, summary_text
from stepgrid.summarize.comparisons.comparison import (
    BASE,
    RATIO,
    ArmEntry,
    Comparison,
    figure_text,
    pooled_table,
)
from stepgrid.summarize.findings import findings
from stepgrid.summarize.formats import escape_markdown, markdown_table
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_formats import ALONE, FormOptions
from stepgrid.summarize.setup import spec_words
from stepgrid.summarize.summary_text import MOST_FINDINGS

FACTS = ("host", "builds", "measured", "made from")  # of the setup


def markdown(report: Report, _: FormOptions = ALONE, has_chart: bool = True) -> str:
    """Write answer, doubts, chart, table, claims and provenance; `--table` has the other tables."""
    title = f"{report.setup.title}{report.setup.scale_words}"
    blocks = [f"# {escape_markdown(title)}", escape_markdown(sentences.subtitle(report))]
    banners = filter(None, (sentences.incomplete(report), sentences.banner(report)))
    blocks += [f"**{escape_markdown(banner)}**" for banner in banners]
    answers = [*map(escape_markdown, report.notes.reproduction)]
    answers += [f"**{escape_markdown(answer.sentences[0])}**" for answer in report.grid_answers]
    for finding in findings(report)[:MOST_FINDINGS]:
        note = f" ({escape_markdown(finding.note)})" if finding.note else ""
        answers.append(f"**{escape_markdown(finding.headline)}** {escape_markdown(finding.detail)}{note}")
    blocks += [_items(answers), _items(map(_markdown, sentences.advice(report)))]
    for comparison in report.comparisons.leading[:has_chart]:
        name = f"{comparison.metric.name}.svg"
        blocks.append(f"![{escape_markdown(comparison.metric.title)}]({name})")
        blocks.append(f"Chart: `stepgrid report {spec_words(report.setup)} --chart main -o {name}`")
    compared = [markdown_table(compact_table(comparison)).strip() for comparison in report.comparisons.leading]
    pooled = [markdown_table(table).strip() for table in map(pooled_table, report.comparisons.leading) if table]
    figures = [absolute_figures.table(report, section) for section in absolute_figures.sections(report)]
    blocks += [*compared, *pooled] or [markdown_table(table).strip() for table in figures]
    for answer in report.grid_answers:
        blocks.append(_section(answer.title, map(escape_markdown, answer.sentences[1:])))
        blocks += [markdown_table(table).strip() for table in answer.tables]
    if compared and report.setup.loads[1] > 1:
        blocks.append(f"*{escape_markdown(sentences.legend(report))}*")
    actions = ((name.capitalize(), text) for name, text in next_action.lines(report) if text)
    blocks.append(_items(f"**{name}:** {_markdown(text)}" for name, text in actions))
    blocks.append(
        _section("Claims", (escape_markdown(claims.brief_line(claim)) for claim in report.comparisons.claims))
    )
    blocks.append(_section("Read with care", map(_markdown, summary_text.doubts(report))))
    differences = (*report.notes.differs, *report.notes.left_out)
    blocks.append(_section("Differences", map(escape_markdown, differences)))
    facts = [(name, text) for name, texts in summary_text.setup_facts(report) if name in FACTS for text in texts]
    blocks.append(_section("Measured on", (f"{name}: {escape_markdown(text)}" for name, text in facts)))
    return "\n\n".join(filter(None, blocks)) + "\n"


def _markdown(text: str) -> str:
    """Escape a sentence of ours, in which backticks stand around code."""
    return escape_markdown(text).replace("\\`", "`")


def _section(title: str, lines: Iterable[str]) -> str:
    items = _items(lines)
    return f"## {title}\n\n{items}" if items else ""


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def compact_table(comparison: Comparison) -> Table:
    """Make the table to paste: figure, arrow and ratio of each arm; without labels that are the same in all rows."""
    names = ("step", *comparison.layout.down)
    labels = [tuple(label or "-" for label in (row.step, *row.labels)) for row in comparison.rows]
    varying = [index for index in range(len(names)) if len({row[index] for row in labels}) > 1] or [0]
    heads = [Column(names[index], label=True) for index in varying]
    heads += [Column(comparison.base, unit=BASE), *map(Column, comparison.arm_names)]
    rows = tuple(
        (*(Cell(row_labels[index]) for index in varying), *(_compact(entry, comparison) for entry in row.entries))
        for row, row_labels in zip(comparison.rows, labels, strict=True)
    )
    return Table(f"{comparison.metric.heading} and ratio to {comparison.base}", tuple(heads), rows)


def _compact(entry: ArmEntry, comparison: Comparison) -> Cell:
    """Write figure and ratio; the verdict with its interval is what a reader gets who points at it."""
    spread = entry.point.spread(comparison.metric.name) if entry.point else None
    figure = figure_text(entry.point, comparison.metric, entry.kind != RATIO) if entry.point and spread else ""
    value = spread[0] if spread else None
    if entry.kind == RATIO and (entry.ratio is not None or entry.is_difference):
        before, after = entry.marks
        times = "" if entry.ratio is None else units.times(entry.ratio)
        ratio = " ".join(filter(None, (before, times, after)))
        ends = (entry.interval.low, entry.interval.high) if entry.interval else None
        return Cell(f"{figure} {ratio}", entry.verdict or "", entry.ratio, ends, entry.text, figure=value)
    return Cell(figure or (NOTHING if entry.kind == ABSENT else entry.kind), entry.kind, value)
