"""A report as it is printed: whole, or one of its tables; as text, Markdown for a post, CSV, TSV, HTML or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from stepgrid.language.problems import nearest
from stepgrid.model.table import Table
from stepgrid.summarize import absolute_figures, claims, formats, sentences, summary_text
from stepgrid.summarize.causes import why_table
from stepgrid.summarize.comparisons.comparison_table import comparison_table, pooled_table, ratio_table
from stepgrid.summarize.findings import findings
from stepgrid.summarize.formats import FORMATS, escape_markdown, markdown_table
from stepgrid.summarize.html_page import compact_table, page
from stepgrid.summarize.report import Report
from stepgrid.summarize.summary_text import MOST_FINDINGS

FACTS = ("host", "builds", "measured", "made from")  # of the setup, in Markdown


class NoTable(Exception):
    """No table has that title."""


def report_text(report: Report, form: str, page_path: Path | None) -> str:
    match form:
        case "text":
            return summary_text.text(report, page_path)
        case "html":
            return page(report, alone=True)
        case "markdown":
            return markdown(report)
    checkable = [ratio_table(report.comparisons.all)] if form in ("csv", "tsv") and report.comparisons.all else []
    return _joined(map(FORMATS[form], (*tables(report), *checkable)), form)


def table(report: Report, form: str, title: str) -> str:
    """Write all tables of that title, or the one of that whole name."""
    all_tables = [*tables(report), ratio_table(report.comparisons.all)]
    chosen = [table for table in all_tables if title in (table.title, table.name)]
    if not chosen:
        raise NoTable(f"there is no table `{title}`: {nearest(title, {table.title for table in all_tables})}")
    return _joined(map(FORMATS[form], chosen), form)


def tables(report: Report) -> Iterator[Table]:
    """Yield tables in the order of the text, then those that are too long for it."""
    for comparison in report.comparisons.all:
        candidates = (
            comparison_table(comparison),
            pooled_table(comparison),
            why_table(comparison, report.setup, report.data.details),
        )
        yield from (table for table in candidates if table)
    yield from (ladder.table for ladder in report.comparisons.ladders)
    if report.comparisons.claims:
        yield claims.table(report.comparisons.claims)
    if report.tables.are_chosen:
        yield from report.tables.prepared
    yield from (absolute_figures.table(report, section) for section in report.comparisons.sections)
    if not report.tables.are_chosen:
        yield from report.tables.prepared
    yield from (table for long in report.tables.long for table in long.make())


def _joined(parts: Iterable[str], form: str) -> str:
    return formats.join_json(parts) if form == "json" else "\n".join(parts)


# Markdown, to be pasted into a post or an issue


def markdown(report: Report) -> str:
    """Write answer, doubts, chart, table, claims and provenance; `--table` has the other tables."""
    blocks = [f"# {escape_markdown(report.setup.title)}", escape_markdown(sentences.subtitle(report))]
    banners = filter(None, (sentences.incomplete(report), sentences.banner(report)))
    blocks += [f"**{escape_markdown(banner)}**" for banner in banners]
    answers = [*map(escape_markdown, report.notes.reproduction)]
    for finding in findings(report)[:MOST_FINDINGS]:
        note = f" ({escape_markdown(finding.note)})" if finding.note else ""
        answers.append(f"**{escape_markdown(finding.headline)}** {escape_markdown(finding.detail)}{note}")
    blocks += [_items(answers), _items(map(_markdown, sentences.advice(report)))]
    for comparison in report.comparisons.leading[:1]:
        name = f"{comparison.metric.name}.svg"
        blocks.append(f"![{escape_markdown(comparison.metric.title)}]({name})")
        blocks.append(f"Chart: `stepgrid report {sentences.spec_words(report)} --chart main -o {name}`")
    compared = [markdown_table(compact_table(comparison)).strip() for comparison in report.comparisons.leading]
    pooled = [markdown_table(table).strip() for table in map(pooled_table, report.comparisons.leading) if table]
    figures = [absolute_figures.table(report, section) for section in report.comparisons.sections]
    blocks += [*compared, *pooled] or [markdown_table(table).strip() for table in figures]
    if compared and report.setup.loads[1] > 1:
        notes = filter(None, (sentences.legend(report), sentences.ratio_note(report)))
        blocks.append("\n".join(f"*{escape_markdown(note)}*" for note in notes))
    if reason := sentences.reason_line(report):
        blocks.append(f"**Why:** {escape_markdown(reason)}")
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
