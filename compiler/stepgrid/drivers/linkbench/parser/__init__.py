"""What a step's report says: rates over all clients, and the latency of each operation with its histogram."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.drivers.insert_benchmark.parser import histogram
from stepgrid.drivers.linkbench.parser import rates
from stepgrid.drivers.linkbench.parser.report import Report, read
from stepgrid.drivers.sysbench.parser import fatal
from stepgrid.drivers.sysbench.parser.step import OUTPUT
from stepgrid.drivers.sysbench.parser.step import read as read_output
from stepgrid.model.figures import Figures, ParseError

# What the workload says. sysbench says more of the same before it, and cuts that off where it is long: within a line.
_OWN = re.compile(r"FATAL: `\w+' function failed: (.+)$", re.MULTILINE)
PERCENTILES = ("p50_us", "p95_us", "p99_us")
MICROSECONDS = 1e6


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    found = read(folder)
    if settings["action"] == "check":
        return Figures({"seconds": found.seconds}, {})
    if not found.roles:
        raise ParseError(f"{folder}: no client has done anything")
    metrics = _loaded(found) if settings["action"] == "load" else _requested(found)
    return Figures(
        {**metrics, "retries": float(sum(line["retries"] for line in found.roles))},
        {},
        rates.of_all(found.intervals),
        histograms=[histogram.whole(name, histogram.merged(found.of(name))) for name in found.operations],
        rates=rates.of_clients(found.intervals),
    )


def complaint(folder: Path) -> str | None:
    """Why a run failed, in its words."""
    try:
        text = read_output(folder / OUTPUT)
    except ParseError:
        return None
    own = _OWN.search(text)
    said = own[1] if own else fatal(text)
    return f"LinkBench failed: {said}" if said else None


def _loaded(found: Report) -> dict[str, float]:
    """The published rate of a load is that of its rows: nodes, links and counts, without the index.

    The clock of the whole begins with a thread that another one may be ahead of.
    """
    rows, index = found.count, float(sum(line["seconds"] for line in found.indexed))
    return {
        "operations": rows,
        "seconds": max(found.seconds, found.span + index),
        "qps": rows / found.span,
        "insert_seconds": found.span,
        "index_seconds": index,
        "indexed_links_per_s": found.rows("links") / index,
        "nodes_loaded": found.rows("nodes"),
        "links_loaded": found.rows("links"),
        "counts_loaded": found.rows("counts"),
    }


def _requested(found: Report) -> dict[str, float]:
    total = histogram.merged(found.roles)
    seconds = sum(float(line["seconds"]) for line in found.roles)
    said = {
        "operations": found.count,
        "seconds": found.span,
        "qps": found.count / found.span,
        "avg_us": seconds / found.count * MICROSECONDS,
        "max_us": max(float(line["longest"]) for line in found.roles) * MICROSECONDS,
        **histogram.figures(total),
        "continued_lists": found.rows("history"),
    }
    for operation in found.operations:
        said |= {f"{operation}_{name}": value for name, value in _latency(found, operation).items()}
    return said


def _latency(found: Report, operation: str) -> dict[str, float]:
    lines = found.of(operation)
    count, figures = sum(line["count"] for line in lines), histogram.figures(histogram.merged(lines))
    return {
        "share_pct": 100 * count / found.count,
        "avg_us": sum(line["seconds"] for line in lines) / count * MICROSECONDS,
        **{name: figures[name] for name in PERCENTILES},
        "max_us": max(line["longest"] for line in lines) * MICROSECONDS,
    }
