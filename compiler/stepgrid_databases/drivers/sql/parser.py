"""The figures of statements: how long each took, as their client saw it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.metrics import Metric, MetricSet

SHOWN = 60  # characters of a statement in a fact
_WINDOW = "the statements of the step, without connecting"

_METRICS = (
    Metric("sql_seconds", "s", "lower", "Time of all statements of the step, as their client saw it.", _WINDOW),
    Metric("sql_slowest_seconds", "s", "lower", "Time of the statement that took longest.", _WINDOW),
    Metric("sql_statements", "statements", None, "Statements that were run.", _WINDOW),
    Metric("sql_rows", "rows", None, "Rows that the statements answered with, all together.", _WINDOW),
)

METRICS = MetricSet({"Statements": _METRICS})


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    lines = _lines(folder / "stdout")
    missing = [number for number in range(1, len(settings["sql"]) + 1) if number not in lines]
    if missing:
        raise ParseError(f"stdout has no line for statement {missing[0]}")
    seconds = {number: float(line["seconds"]) for number, line in lines.items()}
    metrics = {
        "sql_seconds": sum(seconds.values()),
        "sql_slowest_seconds": max(seconds.values()),
        "sql_statements": float(len(lines)),
        "sql_rows": float(sum(int(line["rows"]) for line in lines.values())),
    }
    facts = {}
    for number, line in lines.items():
        text = " ".join(line["sql"].split())
        excerpt = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
        facts[f"statement {number}"] = f"{seconds[number]:.6g} s: {excerpt}"
    return Figures(metrics, facts)


def _lines(stdout: Path) -> dict[int, Mapping[str, Any]]:
    lines: dict[int, Mapping[str, Any]] = {}
    for line in stdout.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
            lines[int(record["statement"])] = {name: record[name] for name in ("seconds", "rows", "sql")}
        except (ValueError, KeyError, TypeError):
            raise ParseError(f"stdout has a line that is no statement's: {line[:SHOWN]}") from None
    return lines
