"""The figures of statements: how long each took, as their client saw it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.metrics import Metric, MetricSet
from stepgrid.model.records import replace
from stepgrid_databases.drivers import client_report

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
    if settings.get("rate"):
        return _parse_paced(folder, settings["sql"])
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
    facts = {f"statement {n}": f"{seconds[n]:.6g} s: {_excerpt(line['sql'])}" for n, line in lines.items()}
    return Figures(metrics, facts)


def _parse_paced(folder: Path, statements: Sequence[str]) -> Figures:
    report = client_report.read_whole(folder / client_report.FILE)
    groups = client_report.operation_roles(report)
    roles = [line for lines in groups.values() for line in lines]
    count, seconds = client_report.total_count(roles), client_report.run_seconds(report, roles)
    metrics = {"operations": count, "seconds": seconds, "qps": count / seconds, **client_report.latencies(roles)}
    histogram = client_report.histogram("", client_report.bucket_counts(roles))
    series = client_report.series(report.intervals)
    figures = client_report.rated(report, Figures(metrics, {}, series, histograms=[histogram]))
    facts = {}
    for number, sql in enumerate(statements, 1):
        if lines := groups.get(f"statement {number}"):
            p99 = client_report.latencies(lines).get("p99_us")
            text = f"p99 {p99:.4g} µs of " if p99 and "p99_us" in figures.metrics else ""  # of a missed rate none
            facts[f"statement {number}"] = f"{text}{client_report.total_count(lines):g}: {_excerpt(sql)}"
    return replace(figures, facts=facts)


def _excerpt(sql: str) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _lines(stdout: Path) -> dict[int, Mapping[str, Any]]:
    lines: dict[int, Mapping[str, Any]] = {}
    for line in stdout.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
            lines[int(record["statement"])] = {name: record[name] for name in ("seconds", "rows", "sql")}
        except (ValueError, KeyError, TypeError):
            raise ParseError(f"stdout has a line that is no statement's: {line[:SHOWN]}") from None
    return lines
