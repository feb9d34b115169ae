"""Figures of a step: the output of sysbench, and the report that the workloads write, which is not rounded.

A load reports each table when it is loaded; its operations are rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.metrics import Metric, MetricSet, columns
from stepgrid.model.records import replace
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import MICROSECONDS, ClientReport, Line
from stepgrid_databases.drivers.sysbench import output
from stepgrid_databases.drivers.sysbench.workload import LOAD

_RUN = "the run, without its warmup"

_SYSBENCH = (
    Metric("transactions_per_s", "transactions/s", "higher", "Transactions of all clients per second.", _RUN),
    Metric("target_transactions_per_s", "transactions/s", None,
           "The rate of transactions that all clients together were asked for. They begin at random times; latency "
           "counts from then, also while they wait for a client.", _RUN),
    Metric("transactions", "transactions", None, "Transactions of all clients; of most workloads one statement.", _RUN),
    Metric("read_queries", "queries", None, "Queries that answer with rows, or could.", _RUN),
    Metric("write_queries", "queries", None, "Statements that changed a row.", _RUN),
    Metric("other_queries", "queries", None, "BEGIN, COMMIT, and statements that found nothing to change.", _RUN),
    Metric("min_us", "us", None, "Lowest latency, of whole transactions.", _RUN),
    Metric("p95_us", "us", "lower", "95th percentile of latency, of whole transactions.", _RUN),
    Metric("insert_seconds", "s", "lower",
           "Time of the inserts of a load, of the client that took longest; the clients begin together.", _RUN),
    Metric("index_seconds", "s", "lower",
           "Time of a load for the indexes that are made when the rows are there, of the client that took longest.",
           _RUN),
    Metric("ignored_errors", "errors", "lower", "Errors after which a transaction was tried again.", _RUN),
    Metric("reconnects", "reconnects", "lower", "Connections that were lost and made again.", _RUN),
    Metric("rows_per_s", "rows/s", "higher",
           "Rows that scans of a whole table read per second, of all clients together: scans (qps) times the rows "
           "that a table was loaded with. Published figures of a scan are made by three other definitions "
           "(docs/guides/legacy.md).", _RUN),
    Metric("scan_rate", "1", "higher",
           "The published figure of a scan as it stands, where it is not known by which of its three definitions it "
           "was made: good for ratios within one table, and for nothing else.", _RUN),
)  # fmt: skip

_PUBLISHED = {
    "sysbench": columns(
        """
        qps=o/s transactions_per_s=trx avg_us=rtavg max_us=rtmax p95_us=rt95 device_reads_per_s=r/s
        device_read_mb_per_s=rMB/s device_writes_per_s=w/s device_write_mb_per_s=wMB/s reads_per_op=r/o
        read_kb_per_op=rKB/o write_kb_per_op=wKB/o context_switches_per_s=cs/s context_switches_per_op=cs/o
        host_cpu_us_per_op=cpu/o
        """
    )
}

METRICS = MetricSet({"Sysbench": _SYSBENCH}, _PUBLISHED)

_COUNTS = {
    "transactions": "events",
    "read_queries": "reads",
    "write_queries": "writes",
    "other_queries": "other",
    "ignored_errors": "errors",
    "reconnects": "reconnects",
}
_LATENCIES = {"min_us": "latency_min", "avg_us": "latency_avg", "max_us": "latency_max"}


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    path = folder / output.OUTPUT
    text, report = output.read(path), _report(folder)
    try:
        figures = output.parse(text)
        if settings["lua"] == LOAD:
            # without latencies: those are of statements of many rows, and of making an index
            return Figures(_load_metrics(report), figures.facts, _series(report), figures.warnings)
    except ParseError as problem:
        raise ParseError(f"{path}: {problem}") from None
    metrics = {**figures.metrics, **_run_metrics(report)}
    if settings["lua"] == "scan":
        metrics["rows_per_s"] = metrics["qps"] * settings["rows"]
    figures = replace(figures, metrics=metrics, qps=_series(report) or figures.qps)
    return client_report.kept_up(figures, settings.get("rate"))


def _report(folder: Path) -> ClientReport:
    """Read the report; a workload that reports in its own way has none."""
    path = folder / client_report.FILE
    try:
        return client_report.read(path)
    except ParseError:
        return ClientReport(path, {})


def _series(report: ClientReport) -> client_report.Series:
    return client_report.series(report.intervals)


def _run_metrics(report: ClientReport) -> dict[str, float]:
    """Give the figures of a whole run; none where it has no end."""
    totals = report.of("total")
    if not totals:
        return {}
    total: Line = totals[-1]
    seconds, queries = float(total["time_interval"]), float(total["reads"] + total["writes"] + total["other"])
    return {
        "qps": queries / seconds,
        "operations": queries,
        "seconds": seconds,
        "transactions_per_s": total["events"] / seconds,
        **{name: float(total[key]) for name, key in _COUNTS.items()},
        **{name: total[key] * MICROSECONDS for name, key in _LATENCIES.items()},
    }


def _load_metrics(report: ClientReport) -> dict[str, float]:
    """Give the figures of a load: all its rows, and the times of the client that took longest."""
    run, tables = _run_metrics(report), report.of("loaded")
    if not run or not tables:
        raise ParseError(f"the load has no end: {client_report.FILE} beside it names no table and no total")
    rows = float(sum(line["rows"] for line in tables))
    return {
        "qps": rows / run["seconds"],
        "operations": rows,
        "seconds": run["seconds"],
        "insert_seconds": _longest(tables, "insert_seconds"),
        "index_seconds": _longest(tables, "index_seconds"),
        "ignored_errors": run["ignored_errors"],
    }


def _longest(tables: Sequence[Line], part: str) -> float:
    """Find the longest time of a client: it loads one table after the other."""
    seconds: dict[int, float] = {}
    for line in tables:
        seconds[line["client"]] = seconds.get(line["client"], 0.0) + line[part]
    return max(seconds.values())
