"""What a step's report says: rates, recall, the latency of queries with its histogram."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.drivers.insert_benchmark.parser import histogram
from stepgrid.drivers.linkbench.parser import rates
from stepgrid.host.file_reader import records
from stepgrid.model.figures import Figures, ParseError

REPORT = "report.jsonl"
MICROSECONDS = 1e6

Line = Mapping[str, Any]
Lines = Mapping[str, Sequence[Line]]


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    lines = _lines(folder / REPORT)
    if "end" not in lines:
        raise ParseError(f"{folder / REPORT}: the client did not report its end")
    return _ACTIONS[settings["action"]](lines, settings)


def _lines(path: Path) -> Lines:
    try:
        texts = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror}") from None
    found: dict[str, list[Line]] = {}
    for line in records(texts, "report"):
        found.setdefault(line["report"], []).append(line)
    return found


def _one(lines: Lines, kind: str) -> Line:
    if kind not in lines:
        raise ParseError(f"{REPORT} has no line of `{kind}`")
    return lines[kind][-1]


def _loaded(lines: Lines, settings: Mapping[str, Any]) -> Figures:
    loaded = _one(lines, "loaded")
    rate = loaded["rows"] / loaded["seconds"]
    metrics = {
        "operations": float(loaded["rows"]),
        "seconds": loaded["seconds"],
        "insert_seconds": loaded["seconds"],
        "qps": rate,
        "inserts_per_s": rate,
        **_client(loaded),
    }
    series = [(line["second"], line["operations"] / line["interval"]) for line in lines.get("rate", ())]
    return Figures(metrics, _facts(lines), series)


def _indexed(lines: Lines, settings: Mapping[str, Any]) -> Figures:
    index = _one(lines, "index")
    metrics = {
        "operations": float(index["rows"]),
        "seconds": index["seconds"],
        "index_seconds": index["seconds"],
        "indexed_rows_per_s": index["rows"] / index["seconds"],
        **({} if index["bytes"] is None else {"vector_index_bytes": index["bytes"]}),
        **_client(index),
    }
    return Figures(metrics, {**_facts(lines), **index["settings"]}, warnings=index["said"])


def _client(line: Line) -> dict[str, float]:
    """Its CPU beside the server's: what it did before, such as making the data set, is nobody's row."""
    if "cpu" not in line:
        return {}
    return {"client_cpu_seconds": line["cpu"], "client_cpu_us_per_op": line["cpu"] / line["rows"] * MICROSECONDS}


def _searched(lines: Lines, settings: Mapping[str, Any]) -> Figures:
    runs, latency, recall = lines.get("run", ()), _one(lines, "latency"), _one(lines, "recall")
    if len(runs) != settings["runs"]:
        raise ParseError(f"{REPORT} has {len(runs)} of {settings['runs']} runs")
    buckets = histogram.merged([latency])
    metrics = {
        **_rates(runs),
        "avg_us": latency["seconds"] / latency["count"] * MICROSECONDS,
        "max_us": latency["longest"] * MICROSECONDS,
        **histogram.figures(buckets),
        "recall": recall["by_distance"],
        "recall_p5": recall["by_distance_p5"],
        "recall_by_id": recall["by_id"],
        "recall_by_id_p5": recall["by_id_p5"],
        "short_answers": float(recall["short"]),
    }
    clients = lines.get("client", ())
    facts = {**_facts(lines), "plan": str(_one(lines, "plan")["text"])}
    histograms = [histogram.whole("", buckets)]
    return Figures(metrics, facts, rates.of_all(clients), histograms=histograms, rates=rates.of_clients(clients))


def _rates(runs: Sequence[Line]) -> dict[str, float]:
    """The client's CPU is that between the first query and the last answer: what it did before is nobody's query."""
    queries, seconds = sum(run["queries"] for run in runs), sum(run["seconds"] for run in runs)
    cpu = sum(run["cpu"] for run in runs)
    return {
        "operations": float(queries),
        "seconds": seconds,
        "qps": max(run["queries"] / run["seconds"] for run in runs),
        "all_runs_qps": queries / seconds,
        "client_cpu_seconds": cpu,
        "client_cpu_us_per_op": cpu / queries * MICROSECONDS,
    }


def _facts(lines: Lines) -> dict[str, str]:
    told = _one(lines, "dataset")
    shape = f"{told['rows']} x {told['dimensions']}, {told['queries']} queries, {told['distance']}"
    return {"dataset": shape, "dataset checksum": told["checksum"]}


_ACTIONS: Mapping[str, Callable[[Lines, Mapping[str, Any]], Figures]] = {
    "load": _loaded,
    "index": _indexed,
    "search": _searched,
}
