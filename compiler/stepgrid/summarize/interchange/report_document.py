"""A report as one JSON document, of a versioned schema (templates/report/report.schema.json)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from stepgrid.model.metrics import QPS
from stepgrid.package import __version__
from stepgrid.summarize import formats, json_text
from stepgrid.summarize.claims import Claim
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.page import absolute_figures, answer, report_formats, why
from stepgrid.summarize.report import Report

VERSION = 1  # raised when a key goes or changes its meaning; new keys do not raise it


def text(report: Report) -> str:
    return json_text.text(document(report)) + "\n"


def document(report: Report) -> dict[str, Any]:
    return {
        "schema": VERSION,
        "stepgrid": __version__,
        **{name: getattr(report.setup, name) for name in ("title", "spec", "scale", "plan")},
        "measured": report.setup.measured and [when.replace(tzinfo=UTC).isoformat() for when in report.setup.measured],
        "axes": {axis.name: list(axis.labels) for axis in report.setup.axes},
        "base": dict(report.setup.base),
        "smallest_effect": report.setup.effect,
        "status": dict(report.notes.coverage.counts),
        "answer": [{"text": each.text, "kind": each.kind} for each in answer.answers(report)],
        "claims": [_claim(each) for each in report.comparisons.claims],
        "warnings": list(report.notes.warnings),
        "comparisons": list(_comparisons(report)),
        "figures": [
            _figures(report, section, point) for section in report.comparisons.sections for point in section.points
        ],
        "tables": [json.loads(formats.json_table(each)) for each in report_formats.tables(report)],
    }


def _claim(claim: Claim) -> Mapping[str, Any]:
    cases = [
        {"result": case.result, "where": case.where, "numbers": [*case.numbers, *case.notes]} for case in claim.cases
    ]
    return {"claim": claim.claim, "expect": claim.expect, "result": claim.result, "cases": cases}


def _comparisons(report: Report) -> Iterator[Mapping[str, Any]]:
    for comparison in report.comparisons.all:
        for case in comparison.cases():
            entry, interval = case.entry, case.entry.interval
            yield {
                "step": case.row.step,
                "point": _labels(comparison.layout.down, case.row.labels),
                "arm": _labels(comparison.layout.across, case.arm),
                "base": _labels(comparison.layout.across, comparison.arms[0]),
                "metric": comparison.metric.name,
                "ratio": entry.ratio,
                "interval": [_finite(interval.low), _finite(interval.high)] if interval else None,
                "verdict": entry.verdict,
                "noise_floor": entry.floor,
                "notes": list(entry.doubts),
                "not_comparable": entry.refusal,
                "as_shipped": entry.as_shipped,
                "why": why.of(report, comparison, case) if entry.is_difference else [],
            }


def _labels(axes: tuple[str, ...], labels: tuple[str | None, ...]) -> Mapping[str, str]:
    return {axis: label for axis, label in zip(axes, labels, strict=True) if label is not None}


def _figures(report: Report, section: Section, point: Point) -> Mapping[str, Any]:
    """The metrics of the absolute figures."""
    names = (QPS, *(name for name, _, _ in (*absolute_figures.METRICS, *absolute_figures.GARBAGE)))
    known = {
        name: spread for name in (*names, *absolute_figures.own_metrics(section)) if (spread := point.spread(name))
    }
    measured, planned = point.loads
    metrics = {
        name: {"median": median, "lowest": low, "highest": high, "unit": report.setup.units.get(name, "")}
        for name, (median, low, high) in known.items()
    }
    loads = {"measured": measured, "planned": planned}
    return {
        "step": section.step,
        "point": dict(point.labels),
        "status": point.status,
        "loads": loads,
        "metrics": metrics,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
