"""Figures of a step's report: rates over all clients, latencies of each operation; and of logs of the Java client."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures, ParseError, PrintedStep
from stepgrid.model.metrics import STEP, Metric, MetricSet, has_percentile
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import (
    ClientReport,
    operation_figures,
    operation_latencies,
    operation_load,
    operation_metrics,
)
from stepgrid_databases.drivers.sysbench.output import NUMBER, read

OPERATIONS: Mapping[str, str] = {  # as the Java client prints them -> as settings have them
    "ADD_LINK": "addlink", "DELETE_LINK": "deletelink", "UPDATE_LINK": "updatelink", "COUNT_LINK": "countlink",
    "MULTIGET_LINK": "getlink", "GET_LINKS_LIST": "getlinklist", "GET_NODE": "getnode", "ADD_NODE": "addnode",
    "UPDATE_NODE": "updatenode", "DELETE_NODE": "deletenode",
}  # fmt: skip

_GRAPH = (
    Metric("nodes_loaded", "rows", None, "Nodes that a load inserted.", STEP),
    Metric("links_loaded", "rows", None, "Links that a load inserted.", STEP),
    Metric("counts_loaded", "rows", None, "Counts that a load inserted: one for each node and link type.", STEP),
    Metric("indexed_links_per_s", "rows/s", "higher",
           "Links per second of the second phase of a load, which makes the secondary index.", STEP),
    Metric("continued_lists", "queries", None, "Lists of links that continued an earlier one.", STEP),
)  # fmt: skip
METRICS = MetricSet(
    {"LinkBench": (*_GRAPH, *(metric for name in OPERATIONS.values() for metric in operation_metrics(name)))}
)


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    report = client_report.read_whole(folder / client_report.FILE)
    if settings["action"] == "check":
        return Figures({"seconds": report.seconds}, {})
    if settings["action"] == "load":
        return operation_figures(report, _load_metrics(report))
    lists = float(sum(line["history"] for line in report.of("graph")))
    metrics = {**operation_latencies(report), "continued_lists": lists}
    return operation_figures(report, {**metrics, **client_report.over_limit(report, settings)})


def _load_metrics(report: ClientReport) -> dict[str, float]:
    load = operation_load(report)
    rows = {name: float(sum(line[name] for line in report.of("graph"))) for name in ("nodes", "links", "counts")}
    rate = rows["links"] / load["index_seconds"]
    return {**load, "indexed_links_per_s": rate, **{f"{name}_loaded": count for name, count in rows.items()}}


# Logs of the Java client: its phases, each with the latencies that precede its line.

_UNITS: Mapping[str, float] = {"ms": 1000.0, "us": 1.0}  # newer clients print microseconds
_PHASE = re.compile(r"^.*\b(LOAD|REQUEST) PHASE COMPLETED\..*$", re.MULTILINE)
_REQUESTS = re.compile(rf"(?<!\d)(\d+) requests done in {NUMBER} seconds\. Requests/second = {NUMBER}")
_LOADED = {
    "nodes_loaded": re.compile(r"Loaded (\d+) nodes"),
    "links_loaded": re.compile(r"\b(\d+) links \("),
    "counts_loaded": re.compile(r"\b(\d+) counts \("),
}
_SECONDS = re.compile(rf"(?<!\d){NUMBER} seconds")
_RATE = re.compile(rf"(?<!\d){NUMBER} \(link\+count\+node\)/s|Links/second = {NUMBER}")
_OPERATION = re.compile(r"\b([A-Z_]+) count = (\d+) (.*)$", re.MULTILINE)
_PERCENTILE = re.compile(rf"\b(p50|p95|p99) = (?:\[[\d.]+,)?{NUMBER}\]?(ms|us)\b")
_MAX_OR_MEAN = re.compile(rf"\b(max|mean) = {NUMBER}(ms|us)\b")


def printed(path: Path) -> Sequence[PrintedStep]:
    text = read(path)
    phases = list(_PHASE.finditer(text))
    if not phases:
        raise ParseError(
            f"{path}: no log of LinkBench: no line says `LOAD PHASE COMPLETED` or `REQUEST PHASE COMPLETED`"
        )
    steps, limits = [], [0, *(phase.end() for phase in phases)]
    for phase, (start, end) in zip(phases, pairwise(limits), strict=True):
        name, line = phase[1].lower(), phase[0]
        metrics = _printed_load(line) if name == "load" else _printed_requests(line, text[start:end])
        if metrics is None:
            raise ParseError(f"{path}: the line of the {name} phase has no rate: {line.strip()[:200]}")
        steps.append(PrintedStep(name, Figures(metrics)))
    return steps


def _printed_load(line: str) -> dict[str, float] | None:
    """Read the line of a load; older clients print links per second alone, and count no rows of counttable."""
    rate, seconds = _RATE.search(line), _SECONDS.search(line)
    if rate is None or seconds is None:
        return None
    rows = {name: float(match[1]) for name, pattern in _LOADED.items() if (match := pattern.search(line))}
    return {"qps": float(rate[1] or rate[2]), "insert_seconds": float(seconds[1]), **rows}


def _printed_requests(line: str, text: str) -> dict[str, float] | None:
    """Read the line of the requests and the latencies before it; a percentile is the upper limit of its bucket."""
    match = _REQUESTS.search(line)
    if match is None:
        return None
    total = float(match[1])
    metrics = {"operations": total, "seconds": float(match[2]), "qps": float(match[3])}
    for name, count, figures in _OPERATION.findall(text):
        if (operation := OPERATIONS.get(name)) is None:
            continue
        if total:
            metrics[f"{operation}_share_pct"] = 100 * int(count) / total
        for figure, value, unit in (*_PERCENTILE.findall(figures), *_MAX_OR_MEAN.findall(figures)):
            if figure[0] == "p" and not has_percentile(int(count), float(figure[1:])):
                continue
            metrics[f"{operation}_{'avg' if figure == 'mean' else figure}_us"] = float(value) * _UNITS[unit]
    return metrics
