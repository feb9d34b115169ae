"""Figures of a step's report: rates over all clients, the published ones of the first client alone, histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures
from stepgrid.model.metrics import STEP, Metric, MetricSet, columns
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import ClientReport, Line, RateInterval, span, total_count
from stepgrid_databases.drivers.insert_benchmark import ends_by_clock

_METRICS = (
    Metric("target_inserts_per_s", "rows/s", None,
           "Rows per second that all clients together were to insert beside their queries: a step that inserted "
           "less than 95 % of them failed its rate.", STEP),
    Metric("deletes_per_s", "rows/s", None, "Rows that all clients deleted per second of wall time.", STEP),
    Metric("rows_inserted", "rows", None, "Rows that all clients inserted.", STEP),
    Metric("rows_deleted", "rows", None, "Rows that all clients deleted, where a step deletes.", STEP),
    Metric("median_qps", "operations/s", "higher",
           "QPS that half of the seconds reach: a rate, not a latency; rows/s where a step only inserts. "
           "Published tables call it p50, and have it of the first client alone.", STEP),
    Metric("min_id_probe_seconds", "s", "lower",
           "Time of the first query for the table's smallest id, when the step begins: what deleted rows cost "
           "that are not gone yet.", STEP),
    Metric("max_insert_seconds", "s", "lower",
           "Longest time of an insert statement of any client. Published tables call it maxop; where a step "
           "queries, they have the longest query there.", STEP),
    Metric("max_delete_seconds", "s", "lower", "Longest time of a delete statement of any client.", STEP),
    Metric("max_query_seconds", "s", "lower", "Longest time of a query of any client.", STEP),
    Metric("median_inserts_per_s", "rows/s", "higher",
           "Rate of inserts that half of the intervals reach: a rate, not a latency.", STEP),
    Metric("worst_inserts_per_s_p99", "rows/s", "higher",
           "Rate of inserts that 99 % of the intervals reach: a rate, not a latency.", STEP),
    Metric("insert_shortfall_pct", "%", "lower",
           "By how much the rate of inserts was below target_inserts_per_s, over the whole step; 0 where it was "
           "reached.", STEP),
    Metric("lengthened_seconds", "s", "lower",
           "By how much a step took longer than its `duration`: one that ends when its rows are in, and missed its "
           "rate.", STEP),
    Metric("retries", "statements", "lower",
           "Statements that were sent again because the server reported a deadlock, a lock wait timeout or a "
           "serialization failure.", STEP),
    *(Metric(f"insert_{name}_us", "us", "lower",
             f"{name}: latency of an INSERT from when it was due, of a step with `arrivals`.", STEP)
      for name in ("p50", "p95", "p99")),
    Metric("min_id_resyncs", "queries", None,
           "Queries for the table's smallest id during the step: one for each 1000 batches that were deleted.", STEP),
    Metric("min_id_resync_seconds", "s", "lower", "Time of those queries, of all clients together.", STEP),
    Metric("inserts_per_s_with_setup", "rows/s", "higher",
           "Published tables' ips: rows inserted per second since the client's start; connecting and the query for the "
           "smallest id count.", STEP),
    Metric("first_client_p50_rate", "operations/s", "higher",
           "Published tables' p50: the rate that half of the seconds of the first client reach, in queries, or in rows "
           "where a step only inserts. Missing below 10 seconds.", STEP),
    Metric("first_client_p99_rate", "operations/s", "higher",
           "Published tables' p99: the rate that 99 % of the seconds of the first client reach.", STEP),
)  # fmt: skip

_PUBLISHED = {
    "insert_benchmark": columns(
        """
        inserts_per_s=ips deletes_per_s=dps qps=qps device_reads_per_s=rps device_read_mb_per_s=rmbps
        device_writes_per_s=wps device_write_mb_per_s=wmbps reads_per_op=rpq read_kb_per_op=rkbpq
        writes_per_insert=wpi write_kb_per_insert=wkbpi context_switches_per_s=csps context_switches_per_op=cspq
        host_cpu_us_per_op=cpupq client_cpu_us_per_op=ccpupq tables_bytes=dbgb1 database_bytes=dbgb2
        server_virtual_bytes=vsz server_rss_bytes=rss max_insert_seconds=maxop median_qps=p50 worst_qps_p99=p99
        """
    ),
    "probes": columns("min_id_probe_seconds=getmin"),
}

METRICS = MetricSet({"Inserts and searches": _METRICS}, _PUBLISHED)

OPERATIONS = ("insert", "delete", "query")
FEWEST = 10  # of fewer intervals published tables say nothing


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    report = client_report.read_whole(folder / client_report.FILE)
    action = settings["action"]
    if action == "check":
        return Figures({"seconds": report.seconds}, {})
    roles = {name: [line for line in report.of("role") if line["operation"] == name] for name in OPERATIONS}
    # the few rows that are inserted before the indexes are made have no rate
    intervals = [] if action == "index" else report.intervals
    main = "query" if action == "query" else "insert"
    counts = {name: client_report.bucket_counts(roles[name]) for name in OPERATIONS}
    labels = {**{name: name for name in OPERATIONS}, "query": str(settings["query"])}
    probes = [float(line["seconds"]) for line in report.of("probe")]
    figures = Figures(
        {
            **(_index_throughput(report) if action == "index" else _throughput(report, roles, main)),
            **({} if action == "index" else _target(roles, settings)),
            **_extremes(roles),
            **client_report.over_limit(report, settings),
            **_rates(intervals, main),
            **({"min_id_probe_seconds": max(probes)} if probes else {}),
            **client_report.percentiles(counts["query"]),
            **({} if settings.get("arrivals") is None else _insert_latencies(counts["insert"])),
        },
        {"ended": "by the clock" if ends_by_clock(settings) else "when the rows were in"} if action == "query" else {},
        client_report.series(intervals, main),
        histograms=[client_report.histogram(labels[name], counts[name]) for name in OPERATIONS if counts[name]],
        rates=client_report.client_rates(intervals),
    )
    return client_report.rated(report, figures)


def _index_throughput(report: ClientReport) -> dict[str, float]:
    """Count all rows of the tables, as published."""
    seconds = report.seconds
    rows = float(sum(line["inserted"] - line["deleted"] for line in report.of("progress")))
    return {"seconds": seconds, "operations": rows, "qps": rows / seconds, "inserts_per_s": rows / seconds}


def _throughput(report: ClientReport, roles: Mapping[str, Sequence[Line]], main: str) -> dict[str, float]:
    metrics = {
        "operations": total_count(roles[main]),
        "seconds": client_report.run_seconds(report, [line for lines in roles.values() for line in lines]),
        "qps": total_count(roles[main]) / client_report.run_seconds(report, roles[main]),
    }
    for operation in ("insert", "delete"):
        if lines := roles[operation]:
            metrics[f"{operation}s_per_s"] = _rate(lines)
            metrics[f"rows_{operation.removesuffix('e')}ed"] = total_count(lines)
    if inserts := roles["insert"]:
        setup_and_inserts = max(line["ended"] for line in inserts) - float(report.of("end")[0]["started"])
        metrics["inserts_per_s_with_setup"] = total_count(inserts) / setup_and_inserts
    return metrics


def _target(roles: Mapping[str, Sequence[Line]], settings: Mapping[str, Any]) -> dict[str, float]:
    """Tell how far a step was from the rate that it was asked for: short by rows, or longer by seconds."""
    if settings["insert_rate"] is None:
        return {}
    shortfall = 100 * (1 - _rate(roles["insert"]) / (settings["insert_rate"] * settings["clients"]))
    excess = span(roles["insert"]) - settings["duration"]
    return {"insert_shortfall_pct": max(0.0, shortfall), "lengthened_seconds": max(0.0, excess)}


def _extremes(roles: Mapping[str, Sequence[Line]]) -> dict[str, float]:
    """Give the longest statements, and how many were sent again or looked for the smallest id."""
    metrics = {
        f"max_{name}_seconds": max(float(line["longest"]) for line in lines) for name, lines in roles.items() if lines
    }
    if any(roles.values()):
        metrics["retries"] = float(sum(line["retries"] for lines in roles.values() for line in lines))
    if deletes := roles["delete"]:
        metrics["min_id_resyncs"] = float(sum(line["resyncs"] for line in deletes))
        metrics["min_id_resync_seconds"] = float(sum(line["resync_seconds"] for line in deletes))
    return metrics


def _insert_latencies(counts: Mapping[int, int]) -> dict[str, float]:
    """Give latencies of inserts that have moments of their own."""
    names = [name for name in client_report.LATENCIES if name.startswith("p")]
    return {f"insert_{name}": value for name, value in client_report.percentiles(counts).items() if name in names}


def _rates(intervals: Sequence[RateInterval], main: str) -> dict[str, float]:
    metrics: dict[str, float] = {}
    if series := client_report.series(intervals, main):
        metrics["median_qps"] = _reached(series, 50)
    if inserts := client_report.series(intervals, "insert"):
        metrics["median_inserts_per_s"] = _reached(inserts, 50)
        metrics["worst_inserts_per_s_p99"] = _reached(inserts, 99)
    first = client_report.series([interval for interval in intervals if interval.client == 0], main)
    rates = sorted((rate for _, rate in first), reverse=True)
    if len(rates) >= FEWEST:  # the published p50 and p99: rates in the middle, and near the end
        for name, share in (("first_client_p50_rate", 0.5), ("first_client_p99_rate", 0.99)):
            metrics[name] = rates[max(1, int(share * len(rates) + 0.5)) - 1]
    return metrics


def _rate(roles: Sequence[Line]) -> float:
    return total_count(roles) / span(roles)


def _reached(series: client_report.Series, percent: float) -> float:
    """Find the rate that so many per cent of the intervals reach."""
    rates = sorted(rate for _, rate in series)
    return rates[int(len(rates) * (1 - percent / 100))]
