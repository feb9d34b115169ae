"""Parsed steps for other programs: a line for each step and metric, or all that was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.figures import BUCKET, PrintedStep, rows
from stepgrid.plugins.metrics import unit
from stepgrid.summarize.formats import json_text
from stepgrid.summarize.formats.separated import separated

COLUMNS = ("step", "name", "metric", "value", "unit")


def as_csv(steps: Sequence[PrintedStep]) -> str:
    rows = [
        (number, step.name, metric, value, unit(metric))
        for number, step in enumerate(steps, 1)
        for metric, value in step.figures.metrics.items()
    ]
    return separated([COLUMNS, *rows])


def as_json(path: Path, steps: Sequence[PrintedStep]) -> str:
    found = {"file": str(path), "steps": [_step(number, step) for number, step in enumerate(steps, 1)]}
    return json_text.text(found) + "\n"


def _step(number: int, step: PrintedStep) -> Mapping[str, Any]:
    found = step.figures
    return {
        "step": number,
        "name": step.name,
        "metrics": {name: {"value": value, "unit": unit(name)} for name, value in found.metrics.items()},
        "facts": dict(found.facts),
        "warnings": list(found.warnings),
        "series": [{"second": second, "qps": qps} for second, qps in found.qps],
        "histograms": [dict(zip(BUCKET, each, strict=True)) for each in rows(found.histograms)],
        "levels": [dict(level) for level in found.levels],
        "counters": dict(found.counters),
        "intervals": [each._asdict() for each in step.intervals],
    }
