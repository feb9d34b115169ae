"""What valkey-benchmark prints: how fast it is while it runs, and a summary at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from stepgrid.model.figures import Figures, ParseError

INTERVAL = 0.25  # seconds between two lines of progress
END = 4096  # bytes: many lines of progress
_PROGRESS = re.compile(r"rps=(\d+(?:\.\d+)?) \(overall: \d")  # the first line is of no interval
_DONE = re.compile(r"^ +(\d+) requests completed in (\d+\.\d+) seconds", re.MULTILINE)
_RATE = re.compile(r"throughput summary: (\d+(?:\.\d+)?) requests per second")
_LATENCY = re.compile(r"latency summary \(msec\):\n +([a-z0-9 ]+)\n +([0-9. ]+)$", re.MULTILINE)
_NAMES = {"avg": "avg_us", "min": "valkey_min_us", "p50": "p50_us", "p95": "valkey_p95_us", "p99": "p99_us",
          "max": "max_us"}  # fmt: skip


def parse(stdout: Path) -> Figures:
    text = stdout.read_text(encoding="utf-8", errors="replace")
    done, rate = _DONE.search(text), _RATE.search(text)
    if done is None or rate is None:
        raise ParseError("stdout has no `requests completed` and `throughput summary`")
    metrics = {"qps": float(rate[1]), "operations": float(done[1]), "seconds": float(done[2]), **dict(_latencies(text))}
    return Figures(metrics, qps=intervals(text))


def _latencies(text: str) -> Iterator[tuple[str, float]]:
    """By name; it prints milliseconds."""
    match = _LATENCY.search(text)
    for name, value in zip(match[1].split(), match[2].split(), strict=True) if match else ():
        if name in _NAMES:
            yield _NAMES[name], float(value) * 1000


def intervals(text: str) -> list[tuple[float, float]]:
    return [(number * INTERVAL, float(match[1])) for number, match in enumerate(_PROGRESS.finditer(text), 1)]


def newest(stdout: Path) -> list[tuple[float, float]]:
    """Of the file's end; their seconds are right to each other."""
    with stdout.open("rb") as file:
        file.seek(max(0, stdout.stat().st_size - END))
        return intervals(file.read().decode(errors="replace"))
