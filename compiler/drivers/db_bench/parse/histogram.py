"""Latency histograms that follow a result line (--histogram), one for each type of operation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

from compiler.drivers.protocol import Bucket

MIXED = ("read", "write", "delete", "seek", "merge")  # kinds of operation that benchmarks mix
PERCENTILES: Mapping[str, str] = {
    "P50": "p50_us",
    "P75": "p75_us",
    "P99": "p99_us",
    "P99.9": "p99_9_us",
    "P99.99": "p99_99_us",
}

# with the end of the line before it: a literal text is found fast, the beginning of a line is not
_HEAD = re.compile(r"\nMicroseconds per (?P<operation>\w+):$", re.MULTILINE)
_COUNT = re.compile(r"^Count: (?P<count>\d+) +Average: (?P<average>\d+\.\d+) +StdDev: \S+$")
_EXTREMES = re.compile(r"^Min: \d+ +Median: \S+ +Max: (?P<max>\d+)$")
_PERCENTILE = re.compile(r"(P[\d.]+): (\d+\.\d+)")
_BUCKETS = re.compile(r"(?:[\[(] *\d+, *\d+ *[\])] +\d+ .*\n?)*")
_BUCKET = re.compile(r"\n. *(\d+), *(\d+) *. +(\d+) ")
_NEXT = re.compile(r"\n(?:\w+ +: +\d+\.\d+ micros/op|DB path:|\*\* )")


@dataclass(frozen=True, slots=True)
class Histogram:
    operation: str
    count: int
    average: float
    maximum: float
    percentiles: Mapping[str, float]
    buckets: Sequence[tuple[float, float, int]] = ()  # from, to, how many


def after(text: str, start: int) -> list[Histogram]:
    """The histograms between a result line and whatever comes next."""
    rest = f"\n{text[start:]}"
    end = _NEXT.search(rest)
    block = rest[: end.start() if end else len(rest)]
    found = (_histogram(match["operation"], block[match.end() :]) for match in _HEAD.finditer(block))
    return [item for item in found if item is not None and item.count]


def figures(histograms: Sequence[Histogram]) -> dict[str, float]:
    """With several types of operation each has its own figures; a mean of percentiles would be none."""
    if len(histograms) == 1:
        return _latencies(histograms[0])
    mixed = [item for item in histograms if item.operation in MIXED]
    return {f"{item.operation}_{name}": value for item in mixed for name, value in _latencies(item).items()}


def buckets(histograms: Sequence[Histogram]) -> list[Bucket]:
    alone = len(histograms) == 1
    named = (("" if alone else item.operation, item.buckets) for item in histograms if item.buckets)
    return [each for name, found in named for each in zip(repeat(name), *zip(*found, strict=True))]


def _histogram(operation: str, text: str) -> Histogram | None:
    _, *lines = text.split("\n", 5)
    if len(lines) < 3:
        return None
    count, extremes = _COUNT.match(lines[0]), _EXTREMES.match(lines[1])
    if not (count and extremes and lines[2].startswith("Percentiles:")):
        return None
    percentiles = {name: float(value) for name, value in _PERCENTILE.findall(lines[2])}
    return Histogram(
        operation=operation,
        count=int(count["count"]),
        average=float(count["average"]),
        maximum=float(extremes["max"]),
        percentiles=percentiles,
        buckets=_buckets(lines[4]) if len(lines) > 4 else (),  # a line of dashes is before them
    )


def _buckets(text: str) -> Sequence[tuple[float, float, int]]:
    """Up to the first line that is none."""
    block = _BUCKETS.match(text)
    least, most, count = zip(*_BUCKET.findall(f"\n{block[0]}"), strict=True) if block and block[0] else ((), (), ())
    return list(zip(map(float, least), map(float, most), map(int, count), strict=True))


def _latencies(item: Histogram) -> dict[str, float]:
    known = {PERCENTILES[name]: value for name, value in item.percentiles.items() if name in PERCENTILES}
    return {"avg_us": item.average, "max_us": item.maximum} | known
