"""Figures of a step's report: rates, recall, the latency of queries with its histogram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.metrics import STEP, Metric, MetricSet
from stepgrid_databases.drivers import client_report
from stepgrid_databases.drivers.client_report import FILE, MICROSECONDS, ClientReport, Line

_ALL_RUNS = "all runs of the step"
_LAST_RUN = "the last run of the step, as published"
_METRICS = (
    Metric("all_runs_qps", "operations/s", "higher",
           "Queries of all runs of a step per second of these runs; qps is that of the fastest run, as published.",
           _ALL_RUNS),
    Metric("recall_p5", "1", "higher", "5th percentile over queries of recall by distance.", _LAST_RUN),
    Metric("recall_by_id", "1", "higher",
           "Share of the true k nearest neighbours among those returned, by id: one that is as near as the k-th true "
           "one and is another vector does not count. The mean over queries.", _LAST_RUN),
    Metric("recall_by_id_p5", "1", "higher", "5th percentile over queries of recall by id.", _LAST_RUN),
    Metric("short_answers", "queries", "lower", "Queries that were answered with fewer than k vectors.", _LAST_RUN),
    Metric("vector_index_bytes", "B", "lower",
           "Size of the vector index: pg_relation_size of PostgreSQL's; of MariaDB's the file of its hidden table.",
           STEP),
    Metric("indexed_rows_per_s", "rows/s", "higher", "Vectors per second of making the index.", STEP),
)  # fmt: skip
METRICS = MetricSet({"Vector search": _METRICS}, published={"vector_search": {"recall": "recall", "qps": "qps"}})


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    report = client_report.read_whole(folder / FILE)
    return {"load": _load, "index": _index, "search": _search}[settings["action"]](report, settings)


def _load(report: ClientReport, settings: Mapping[str, Any]) -> Figures:
    loaded = report.last("loaded")
    rate = loaded["rows"] / loaded["seconds"]
    metrics = {
        "operations": float(loaded["rows"]),
        "seconds": loaded["seconds"],
        "insert_seconds": loaded["seconds"],
        "qps": rate,
        "inserts_per_s": rate,
        **_client_cpu(loaded),
    }
    return Figures(metrics, _facts(report), client_report.series(report.intervals))


def _index(report: ClientReport, settings: Mapping[str, Any]) -> Figures:
    index = report.last("index")
    metrics = {
        "operations": float(index["rows"]),
        "seconds": index["seconds"],
        "index_seconds": index["seconds"],
        "indexed_rows_per_s": index["rows"] / index["seconds"],
        **({} if index["bytes"] is None else {"vector_index_bytes": index["bytes"]}),
        **_client_cpu(index),
    }
    return Figures(metrics, {**_facts(report), **index["settings"]}, warnings=index["said"])


def _search(report: ClientReport, settings: Mapping[str, Any]) -> Figures:
    runs, recall = report.of("run"), report.last("recall")
    if len(runs) != settings["runs"]:
        raise ParseError(f"{FILE} has {len(runs)} of {settings['runs']} runs")
    if not report.histograms:
        raise ParseError(f"{FILE} has no line of `histogram`")
    metrics = {
        **_run_metrics(runs),
        **client_report.latencies(report.histograms[-1:]),
        "recall": recall["by_distance"],
        "recall_p5": recall["by_distance_p5"],
        "recall_by_id": recall["by_id"],
        "recall_by_id_p5": recall["by_id_p5"],
        "short_answers": float(recall["short"]),
    }
    figures = Figures(
        metrics,
        {**_facts(report), "plan": str(report.last("plan")["text"])},
        client_report.series(report.intervals),
        histograms=[client_report.histogram("", client_report.bucket_counts(report.histograms[-1:]))],
        rates=client_report.client_rates(report.intervals),
    )
    return client_report.rated(report, figures, settings.get("rate"))


def _run_metrics(runs: Sequence[Line]) -> dict[str, float]:
    """Give the rates of runs, and the client's CPU between the first query and the last answer."""
    queries, seconds, cpu = (sum(run[name] for run in runs) for name in ("queries", "seconds", "cpu"))
    return {
        "operations": float(queries),
        "seconds": seconds,
        "qps": max(run["queries"] / run["seconds"] for run in runs),
        "all_runs_qps": queries / seconds,
        "client_cpu_seconds": cpu,
        "client_cpu_us_per_op": cpu / queries * MICROSECONDS,
    }


def _client_cpu(line: Line) -> dict[str, float]:
    """Give the client's CPU of a load or an index, without what made the data set; older reports lack it."""
    if "cpu" not in line:
        return {}
    return {"client_cpu_seconds": line["cpu"], "client_cpu_us_per_op": line["cpu"] / line["rows"] * MICROSECONDS}


def _facts(report: ClientReport) -> dict[str, str]:
    dataset = report.last("dataset")
    shape = f"{dataset['rows']} x {dataset['dimensions']}, {dataset['queries']} queries, {dataset['distance']}"
    return {"dataset": shape, "dataset checksum": dataset["checksum"]}
