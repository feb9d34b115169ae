"""The figures of a step that other scripts ran, as its folder states them: no driver of ours made its output."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Bucket, ClientRate, Figures, ParseError, by_column, check_rates, rows
from stepgrid.plugins.importer import ImportedStep

NAME = "stated.json"


def body(step: ImportedStep) -> dict[str, Any]:
    figures = step.figures
    return {
        "failure": step.failure,
        "metrics": dict(figures.metrics),
        "facts": {**figures.facts, **({"source": step.source} if step.source else {})},
        "qps": [list(pair) for pair in figures.qps],
        "warnings": list(figures.warnings),
        **_more(figures),
    }


def _more(figures: Figures) -> dict[str, Any]:
    """What few steps have: without it the body, and so the stage's id, is what it was before there was any."""
    found = {
        "counters": dict(figures.counters),
        "levels": [dict(level) for level in figures.levels],
        "histograms": [list(bucket) for bucket in rows(figures.histograms)],
        "rates": [list(each) for each in figures.rates],
    }
    return {name: value for name, value in found.items() if value}


def figures(folder: Path) -> Figures | None:
    """None for a step that we ran."""
    try:
        text = (folder / NAME).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        said = json.loads(text)
        series = [(float(second), float(qps)) for second, qps in said["qps"]]
        metrics = {str(name): float(value) for name, value in said["metrics"].items()}
        found = Figures(metrics, said["facts"], series, said["warnings"])
        buckets: list[Bucket] = [(each[0], each[1], each[2], each[3]) for each in said.get("histograms", ())]
        more = {"counters": said.get("counters", {}), "levels": said.get("levels", ())}
        rates = [ClientRate(*each) for each in said.get("rates", ())]
        found = replace(found, **more, histograms=by_column(buckets), rates=rates)
        failure = said["failure"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"{folder / NAME} cannot be read: {error!r}") from None
    if failure:
        raise ParseError(failure)
    check_rates(found)
    return found
