"""Percentiles as rows: one per step and percentile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compiler.collect import rows
from compiler.collect.parquet import Row
from compiler.collect.rows import Collected
from compiler.plan.model import Plan

_PERCENTILE = re.compile(r"(?:(?P<operation>[a-z]+)_)?p(?P<whole>\d+)(?:_(?P<rest>\d+))?_us")


def percentile(metric: str) -> tuple[str | None, float] | None:
    """p99_9_us -> (None, 99.9), read_p50_us -> ("read", 50); None for a metric that is no percentile."""
    match = _PERCENTILE.fullmatch(metric)
    return (match["operation"], float(f"{match['whole']}.{match['rest'] or 0}")) if match else None


def latencies(plan: Plan, collected: Mapping[str, Collected]) -> Iterator[Row]:
    for row, figures, _, _ in rows.points(plan, collected):
        for name, value in figures.metrics.items():
            if (found := percentile(name)) is not None:
                operation, at = found
                yield {**row, "operation": operation, "percentile": at, "microseconds": value}
