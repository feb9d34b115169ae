"""Bencher Metric Format (bencher.dev, adapter `json`): {benchmark: {measure: {value, lower_value, upper_value}}}."""

from __future__ import annotations

from collections.abc import Mapping

from stepgrid.model.metrics import QPS
from stepgrid.summarize import json_text
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.interchange import series_names
from stepgrid.summarize.report import Report

THROUGHPUT = "throughput"  # Bencher's own measure: operations per second
MEASURES = {QPS: THROUGHPUT, **{name: name.replace("_", "-") for name in (
    "p50_us", "p99_us", "p99_9_us", "cpu_us_per_op", "write_amplification",
)}}  # fmt: skip


def text(report: Report) -> str:
    """Medians of the loads, between the lowest and the highest; a measure's name is a slug."""
    found = {name: _measures(point) for name, point in series_names.points(report)}
    return json_text.text({name: measures for name, measures in found.items() if measures}) + "\n"


def _measures(point: Point) -> Mapping[str, Mapping[str, float]]:
    known = {measure: point.spread(metric) for metric, measure in MEASURES.items()}
    return {
        measure: {"value": spread[0], "lower_value": spread[1], "upper_value": spread[2]}
        for measure, spread in known.items()
        if spread
    }
