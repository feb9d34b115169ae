"""A report as JSON of a versioned schema: templates/report/report.schema.json, docs/reference/report_keys.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC

from stepgrid.model.metrics import QPS
from stepgrid.package import __version__
from stepgrid.summarize import absolute_figures, formats
from stepgrid.summarize.comparisons.comparison import (
    Case,
    Comparison,
    PooledRatio,
)
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.findings import findings_by_metric
from stepgrid.summarize.report import Report
from stepgrid.summarize.report_formats import ALONE, FormOptions, tables
from stepgrid.summarize.statistics.confidence_intervals import Interval

VERSION = 2  # raised when a key goes or changes its meaning; new keys do not raise it


def report_json(report: Report, _: FormOptions = ALONE) -> str:
    return formats.json_text(report_document(report)) + "\n"


def report_document(report: Report) -> dict[str, object]:
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


def _claims(report: Report) -> Iterator[Mapping[str, object]]:
    for claim in report.comparisons.claims:
        cases = [
            {"result": case.result, "where": case.where, "numbers": [*case.numbers, *case.notes]}
            for case in claim.cases
        ]
        yield {"claim": claim.claim, "expect": claim.expect, "result": claim.result, "cases": cases}


def _ratio(report: Report, comparison: Comparison, case: Case) -> Mapping[str, object]:
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
        "bracket": entry.interval.bracket if entry.interval and any(entry.interval.bracket) else None,
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


def _interval(interval: Interval | None) -> Mapping[str, object]:
    """Write an interval with what recomputes it: ratio * exp(± critical * deviation / sqrt(len(ratios)))."""
    ends = [end if math.isfinite(end) else None for end in (interval.low, interval.high)] if interval else None
    return {
        "interval": ends,
        "ratios": list(interval.ratios) if interval else [],
        **{name: getattr(interval, name, None) or None for name in ("deviation", "freedom", "critical")},
    }


def _pooled_ratio(comparison: Comparison, pooled: PooledRatio) -> Mapping[str, object]:
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


def _figures(report: Report) -> Iterator[Mapping[str, object]]:
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


def _metrics(report: Report, point: Point, names: Sequence[str]) -> Mapping[str, object]:
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
