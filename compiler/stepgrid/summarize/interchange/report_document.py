"""A report as one JSON document, of a versioned schema (templates/report/report.schema.json)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from stepgrid.model.metrics import QPS
from stepgrid.package import __version__
from stepgrid.summarize import formats, json_text
from stepgrid.summarize.claims.claim import Claim
from stepgrid.summarize.comparisons.comparison import Comparison, Line
from stepgrid.summarize.comparisons.comparison_cell import RATIO, Entry
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.page import absolute_figures, answer, report_formats, why
from stepgrid.summarize.report import Report, Section
from stepgrid.summarize.statistics.verdicts import DIFFERENCES

VERSION = 1  # raised when a key goes or changes its meaning; new keys do not raise it


def text(report: Report) -> str:
    return json_text.text(document(report)) + "\n"


def document(report: Report) -> dict[str, Any]:
    return {
        "schema": VERSION,
        "stepgrid": __version__,
        **{name: getattr(report, name) for name in ("title", "spec", "scale", "plan")},
        "measured": report.measured and [when.replace(tzinfo=UTC).isoformat() for when in report.measured],
        "axes": {axis.name: list(axis.labels) for axis in report.axes},
        "base": dict(report.base),
        "smallest_effect": report.effect,
        "status": dict(report.status.counts),
        "answer": [{"text": each.text, "kind": each.kind} for each in answer.answers(report)],
        "claims": [_claim(each) for each in report.claims],
        "warnings": list(report.warnings),
        "comparisons": [each for section in report.sections for each in _comparisons(report, section)],
        "figures": [_figures(report, section, point) for section in report.sections for point in section.points],
        "tables": [formats.json_value(each) for each in report_formats.tables(report)],
    }


def _claim(claim: Claim) -> Mapping[str, Any]:
    cases = [{"result": case.result, "where": case.where, "numbers": [*case.said, *case.notes]} for case in claim.cases]
    return {"claim": claim.claim, "expect": claim.expect, "result": claim.result, "cases": cases}


def _comparisons(report: Report, section: Section) -> Iterator[Mapping[str, Any]]:
    for table in section.comparisons:
        for line in table.lines:
            for index, entry in enumerate(line.entries):
                if entry.kind == RATIO:
                    found = why.of(report, table, line, entry) if entry.verdict in DIFFERENCES else []
                    yield {**_comparison(table, line, index, entry), "why": found}


def _comparison(table: Comparison, line: Line, index: int, entry: Entry) -> Mapping[str, Any]:
    found = entry.interval
    return {
        "step": table.step,
        "point": _labels(table.layout.down, line.labels),
        "arm": _labels(table.layout.across, table.columns[index]),
        "base": _labels(table.layout.across, table.columns[0]),
        "metric": QPS,
        "ratio": entry.ratio,
        "interval": [_finite(found.low), _finite(found.high)] if found else None,
        "verdict": entry.verdict,
        "noise_floor": entry.floor,
        "notes": list(entry.doubts),
        "not_comparable": entry.caveat,
        "as_shipped": entry.as_shipped,
    }


def _labels(axes: tuple[str, ...], labels: tuple[str | None, ...]) -> Mapping[str, str]:
    return {axis: label for axis, label in zip(axes, labels, strict=True) if label is not None}


def _figures(report: Report, section: Section, point: Point) -> Mapping[str, Any]:
    """The metrics of the absolute figures."""
    names = (QPS, *(name for name, _, _ in (*absolute_figures.METRICS, *absolute_figures.GARBAGE)))
    known = {name: spread for name in (*names, *absolute_figures.own(section)) if (spread := point.spread(name))}
    measured, planned = point.loads
    metrics = {
        name: {"median": median, "lowest": low, "highest": high, "unit": report.units.get(name, "")}
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
