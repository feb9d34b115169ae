"""Logs of the Java client that people already have: its phases, each with the latencies that precede its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from stepgrid.drivers.sysbench.parser.step import read
from stepgrid.model.figures import Figures, ParseError, PrintedStep

OPERATIONS: Mapping[str, str] = {
    "ADD_LINK": "addlink", "DELETE_LINK": "deletelink", "UPDATE_LINK": "updatelink", "COUNT_LINK": "countlink",
    "MULTIGET_LINK": "getlink", "GET_LINKS_LIST": "getlinklist", "GET_NODE": "getnode", "ADD_NODE": "addnode",
    "UPDATE_NODE": "updatenode", "DELETE_NODE": "deletenode",
}  # fmt: skip
MICROSECONDS: Mapping[str, float] = {"ms": 1000.0, "us": 1.0}  # newer clients print microseconds

_NUMBER = r"(\d+(?:\.\d+)?)"
_PHASE = re.compile(r"^.*\b(LOAD|REQUEST) PHASE COMPLETED\..*$", re.MULTILINE)
_REQUESTS = re.compile(rf"(\d+) requests done in {_NUMBER} seconds\. Requests/second = {_NUMBER}")
_NODES = re.compile(r"Loaded (\d+) nodes")
_LINKS = re.compile(r"\b(\d+) links \(")
_COUNTS = re.compile(r"\b(\d+) counts \(")
_SECONDS = re.compile(rf"(?:Took )?{_NUMBER} seconds")
_RATE = re.compile(rf"{_NUMBER} \(link\+count\+node\)/s|Links/second = {_NUMBER}")
_OPERATION = re.compile(r"\b([A-Z_]+) count = (\d+) (.*)$", re.MULTILINE)
_PERCENTILE = re.compile(rf"\b(p50|p95|p99) = (?:\[[\d.]+,)?{_NUMBER}\]?(ms|us)\b")
_OTHER = re.compile(rf"\b(max|mean) = {_NUMBER}(ms|us)\b")


def printed(path: Path) -> Sequence[PrintedStep]:
    text = read(path)
    phases = list(_PHASE.finditer(text))
    if not phases:
        raise ParseError(
            f"{path}: no log of LinkBench: no line says `LOAD PHASE COMPLETED` or `REQUEST PHASE COMPLETED`"
        )
    begins = [0, *(phase.end() for phase in phases)]
    parts = [text[start:end] for start, end in pairwise(begins)]
    return [_step(phase, part, path) for phase, part in zip(phases, parts, strict=True)]


def _step(phase: re.Match[str], part: str, path: Path) -> PrintedStep:
    name, line = phase[1].lower(), phase[0]
    metrics = _loaded(line) if name == "load" else _requested(line, part)
    if metrics is None:
        raise ParseError(f"{path}: the line of the {name} phase has no rate: {line.strip()[:200]}")
    return PrintedStep(name, Figures(metrics))


def _loaded(line: str) -> dict[str, float] | None:
    """Older clients say links per second alone; they count no rows of counttable."""
    rate, seconds = _RATE.search(line), _SECONDS.search(line)
    if rate is None or seconds is None:
        return None
    known = {"nodes_loaded": _NODES, "links_loaded": _LINKS, "counts_loaded": _COUNTS}
    rows = {name: float(found[1]) for name, pattern in known.items() if (found := pattern.search(line))}
    return {"qps": float(rate[1] or rate[2]), "insert_seconds": float(seconds[1]), **rows}


def _requested(line: str, part: str) -> dict[str, float] | None:
    found = _REQUESTS.search(line)
    if found is None:
        return None
    total = float(found[1])
    latencies = dict(_latencies(part, total))
    return {"operations": total, "seconds": float(found[2]), "qps": float(found[3]), **latencies}


def _latencies(part: str, total: float) -> Iterator[tuple[str, float]]:
    """A percentile is the upper limit of its bucket, as published."""
    for name, count, rest in _OPERATION.findall(part):
        if (operation := OPERATIONS.get(name)) is None:
            continue
        if total:
            yield f"{operation}_share_pct", 100 * int(count) / total
        for figure, value, unit in (*_PERCENTILE.findall(rest), *_OTHER.findall(rest)):
            yield f"{operation}_{'avg' if figure == 'mean' else figure}_us", float(value) * MICROSECONDS[unit]
