"""A report as it is printed: whole, or one of its tables; text, Markdown, CSV, TSV, JSON, or a form of a package."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from stepgrid.language.problems import nearest
from stepgrid.model.metrics import QPS
from stepgrid.model.table import Table
from stepgrid.package import __version__
from stepgrid.plugins.registry import FORMS
from stepgrid.summarize import absolute_figures, claims, formats, next_action, sentences, summary_text
from stepgrid.summarize.comparisons.comparison import (
    Case,
    Comparison,
    PooledRatio,
    compact_table,
    comparison_table,
    pooled_table,
    ratio_table,
)
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.findings import findings, findings_by_metric
from stepgrid.summarize.formats import FORMATS, escape_markdown, markdown_table
from stepgrid.summarize.gate import NO_GATE, Gate
from stepgrid.summarize.report import Report
from stepgrid.summarize.setup import spec_words
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.summary_text import MOST_FINDINGS

FACTS = ("host", "builds", "measured", "made from")  # of the setup, in Markdown


class FormOptions(NamedTuple):
    gate: Gate = NO_GATE
    alone: bool = True  # no other files of the report lie beside it


ALONE = FormOptions()


class ReportForm(Protocol):
    """A form that a package brings: `--format NAME` writes it."""

    def __call__(self, report: Report, options: FormOptions, /) -> str:
        """Write the whole report; NoForm where it has nothing that this form could show."""


class PictureForm(Protocol):
    """A chart as a file, whose ending is the name of the entry point."""

    def __call__(self, report: Report, chart: str, /) -> bytes:
        """Draw the chart of that name or title, the first one as `main`; NoForm where it cannot."""


class NoForm(Exception):
    """A report lacks what a form shows, or this host what draws it."""


class NoTable(Exception):
    """No table has that title."""


def report_text(report: Report, form: str, page_path: Path | None = None, gate: Gate = NO_GATE) -> str:
    match form:
        case "text":
            return summary_text.text(report, page_path)
        case "markdown":
            return markdown(report)
        case "json":
            return report_json(report)
        case _ if form not in ("csv", "tsv"):
            content: str = FORMS.get(form)(report, FormOptions(gate))
            return content
    checkable = [ratio_table(report.comparisons.all)] if report.comparisons.all else []
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
        causes = report.explanation.table(report, comparison)
        yield from filter(None, (comparison_table(comparison), pooled_table(comparison), causes))
    yield from (table for answer in report.grid_answers for table in answer.tables)
    yield from (ladder.table for ladder in report.comparisons.ladders)
    if report.comparisons.claims:
        yield claims.table(report.comparisons.claims)
    if report.tables.are_chosen:
        yield from report.tables.prepared
    yield from (absolute_figures.table(report, section) for section in absolute_figures.sections(report))
    if not report.tables.are_chosen:
        yield from report.tables.prepared
    yield from (table for long in report.tables.long for table in long.tables)


def _joined(parts: Iterable[str], form: str) -> str:
    return formats.join_json(parts) if form == "json" else "\n".join(parts)


# Markdown, to be pasted into a post or an issue


def markdown(report: Report, has_chart: bool = True) -> str:
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


# JSON document of a versioned schema (templates/report/report.schema.json, docs/reference/report_keys.md)

VERSION = 2  # raised when a key goes or changes its meaning; new keys do not raise it


def report_json(report: Report) -> str:
    return formats.json_text(report_document(report)) + "\n"


def report_document(report: Report) -> dict[str, Any]:
    setup, comparisons, notes = report.setup, report.comparisons, report.notes
    return {
        "schema": VERSION,
        "stepgrid": __version__,
        "title": setup.title,
        "spec": setup.spec,
        "scale": setup.scale,
        "plan": setup.plan,
        "measured": setup.measured and [when.replace(tzinfo=UTC).isoformat() for when in setup.measured],
        "axes": {axis.name: list(axis.labels) for axis in setup.axes},
        "base": dict(setup.base),
        "metrics": [{"name": metric.name, "unit": metric.unit, "better": metric.better} for metric in setup.metrics],
        "smallest_effect": setup.effect,
        "operations": notes.operations._asdict(),
        "status": dict(notes.coverage.counts),
        "answer": [
            {"text": finding.text, "kind": finding.kind, "metric": metric.name}
            for metric, metric_findings in findings_by_metric(report).items()
            for finding in metric_findings
        ],
        "grid_answers": [
            {
                "kind": answer.key,
                "title": answer.title,
                "sentences": list(answer.sentences),
                "tables": [formats.json_value(table) for table in answer.tables],
            }
            for answer in report.grid_answers
        ],
        "claims": list(_claims(report)),
        "warnings": list(notes.warnings),
        "reproduction": list(notes.reproduction),
        "differs": list(notes.differs),
        "left_out": list(notes.left_out),
        "comparisons": [_ratio(report, table, case) for table in comparisons.all for case in table.cases()],
        "pooled": [_pooled_ratio(table, pooled) for table in comparisons.all for pooled in table.pooled],
        "figures": list(_figures(report)),
        "tables": [formats.json_value(table) for table in tables(report)],
    }


def _claims(report: Report) -> Iterator[Mapping[str, Any]]:
    for claim in report.comparisons.claims:
        cases = [
            {"result": case.result, "where": case.where, "numbers": [*case.numbers, *case.notes]}
            for case in claim.cases
        ]
        yield {"claim": claim.claim, "expect": claim.expect, "result": claim.result, "cases": cases}


def _ratio(report: Report, comparison: Comparison, case: Case) -> Mapping[str, Any]:
    layout, entry = comparison.layout, case.entry
    return {
        "step": case.row.step,
        "point": _labels(layout.down, case.row.labels),
        "arm": _labels(layout.across, case.arm),
        "base": _labels(layout.across, comparison.arms[0]),
        "metric": comparison.metric.name,
        "better": comparison.metric.better,
        "ratio": entry.ratio,
        **_interval(entry.interval),
        "verdict": entry.verdict,
        "noise_floor": entry.floor,
        "notes": list(entry.doubts),
        "concluded": entry.conclusion.sentence if entry.conclusion else None,
        "not_comparable": entry.refusal,
        "as_shipped": entry.as_shipped,
        "why": report.explanation.causes(report, comparison, case),
    }


def _labels(axes: Sequence[str], labels: Sequence[str | None]) -> Mapping[str, str]:
    return {axis: label for axis, label in zip(axes, labels, strict=True) if label is not None}


def _interval(interval: Interval | None) -> Mapping[str, Any]:
    """Write an interval with what recomputes it: ratio * exp(± critical * deviation / sqrt(len(ratios)))."""
    ends = [end if math.isfinite(end) else None for end in (interval.low, interval.high)] if interval else None
    return {
        "interval": ends,
        "ratios": list(interval.ratios) if interval else [],
        **{name: getattr(interval, name, None) or None for name in ("deviation", "freedom", "critical")},
    }


def _pooled_ratio(comparison: Comparison, pooled: PooledRatio) -> Mapping[str, Any]:
    return {
        "step": pooled.step,
        "axis": pooled.axis,
        "label": pooled.label,
        "base": pooled.base,
        "metric": comparison.metric.name,
        "better": comparison.metric.better,
        "ratio": pooled.ratio,
        **_interval(pooled.interval),
        "verdict": pooled.verdict,
        "points": pooled.points,
        "lowest": pooled.lowest,
        "highest": pooled.highest,
        "dissenting": list(pooled.dissenting),
        "as_shipped": pooled.as_shipped,
    }


def _figures(report: Report) -> Iterator[Mapping[str, Any]]:
    """List the metrics of the absolute figures, those that are compared, and those that steps name."""
    from stepgrid.plugins.metrics import METRICS

    standard = (QPS, *(name for name, _, _ in (*absolute_figures.METRICS, *absolute_figures.GARBAGE)))
    compared = [metric.name for metric in report.setup.metrics]
    for section in report.comparisons.sections:
        for point in section.points:
            declared = [name for run in point.runs for name in run.metrics if name not in METRICS]
            measured, planned = point.loads
            yield {
                "step": section.step,
                "point": dict(point.labels),
                "status": point.status,
                "loads": {"measured": measured, "planned": planned},
                "metrics": _metrics(report, point, list(dict.fromkeys((*standard, *compared, *declared)))),
            }


def _metrics(report: Report, point: Point, names: Sequence[str]) -> Mapping[str, Any]:
    spreads = {name: spread for name in names if (spread := point.spread(name))}
    return {
        name: {
            "mean": mean,
            "lowest": lowest,
            "highest": highest,
            "unit": report.data.units.get(name, ""),
            "better": report.data.better.get(name),
        }
        for name, (mean, lowest, highest) in spreads.items()
    }
