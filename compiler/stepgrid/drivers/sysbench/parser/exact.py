"""What the workloads report of themselves: counts and times as sysbench has them, not as it rounds them.

A load reports a table when it is done with it; its operations are rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.host.file_reader import records

REPORT = "report.jsonl"
MICROSECONDS = 1e6  # of a second

Line = Mapping[str, Any]
Lines = Sequence[Line]

_COUNTS = {
    "transactions": "events",
    "read_queries": "reads",
    "write_queries": "writes",
    "other_queries": "other",
    "ignored_errors": "errors",
    "reconnects": "reconnects",
}
_LATENCIES = {"min_us": "latency_min", "avg_us": "latency_avg", "max_us": "latency_max"}


def read(folder: Path) -> Lines:
    """Empty of a workload that reports in its own way."""
    try:
        return lines((folder / REPORT).read_text(encoding="utf-8").splitlines())
    except OSError:
        return ()


def lines(texts: Iterable[str]) -> Lines:
    """One that was cut off is left out."""
    return list(records(texts, "report"))


def figures(found: Lines) -> dict[str, float]:
    """By name of plugins.metrics.METRICS; empty where the run has no end."""
    end = next((line for line in reversed(found) if line["report"] == "total"), None)
    if end is None:
        return {}
    seconds, queries = float(end["time_interval"]), _queries(end)
    return {
        "qps": queries / seconds,
        "operations": queries,
        "seconds": seconds,
        "transactions_per_s": end["events"] / seconds,
        **{name: float(end[key]) for name, key in _COUNTS.items()},
        **{name: end[key] * MICROSECONDS for name, key in _LATENCIES.items()},
    }


def loaded(found: Lines) -> dict[str, float]:
    """Of a load: all its rows, and the times of the client that took longest."""
    end, tables = figures(found), [line for line in found if line["report"] == "loaded"]
    if not end or not tables:
        return {}
    rows = float(sum(line["rows"] for line in tables))
    return {
        "qps": rows / end["seconds"],
        "operations": rows,
        "seconds": end["seconds"],
        "insert_seconds": _longest(tables, "insert_seconds"),
        "index_seconds": _longest(tables, "index_seconds"),
        "ignored_errors": end["ignored_errors"],
    }


def series(found: Lines) -> Sequence[tuple[float, float]]:
    """(Seconds since the start, queries per second; rows of a load, from its whole statements)."""
    return [
        (line["time_total"], _queries(line) / line["time_interval"] if "batch" not in line else _rows(line))
        for line in found
        if line["report"] == "interval" and line["time_interval"] > 0
    ]


def _queries(line: Line) -> float:
    return float(line["reads"] + line["writes"] + line["other"])


def _rows(line: Line) -> float:
    return float(line["writes"] * line["batch"] / line["time_interval"])


def _longest(tables: Sequence[Line], part: str) -> float:
    """A client loads one table after the other."""
    spent: dict[int, float] = {}
    for line in tables:
        spent[line["client"]] = spent.get(line["client"], 0.0) + line[part]
    return max(spent.values())
