"""Latency histograms that follow a result line (--histogram), one for each type of operation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stepgrid.model.figures import Buckets

MIXED = ("read", "write", "delete", "seek", "merge")  # kinds of operation that benchmarks mix
PERCENTILES: Mapping[str, str] = {
    "P50": "p50_us",
    "P75": "p75_us",
    "P99": "p99_us",
    "P99.9": "p99_9_us",
    "P99.99": "p99_99_us",
}

_NEXT = r"(?:\w+ +: +\d+\.\d+ micros/op|DB path:|\*\* )"
_END = re.compile(rf"\n{_NEXT}")
# with the end of the line before it: a literal text is found fast, the beginning of a line is not
_BEGINS = "\nMicroseconds per "
STATISTICS = (
    r"\nCount: (?P<count>\d+) +Average: (?P<average>\d+\.\d+) +StdDev: (?P<deviation>\S+)"
    r"\nMin: (?P<min>\d+) +Median: (?P<median>\S+) +Max: (?P<max>\d+)"
    r"\nPercentiles:(?P<percentiles>.*)"
)
_HEAD = re.compile(
    rf"{_BEGINS}(?P<operation>\w+):{STATISTICS}(?:\n(?!{_NEXT}).*)?"  # a line of dashes is before the buckets
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")  # a deviation of nothing is none
_PERCENTILE = re.compile(r"(P[\d.]+): (\d+\.\d+)")
_SAID = r"[\[(] *+(\d++), *+(\d++) *+[\])] ++(\d++) "
_BUCKET, _OTHER = re.compile(rf"\n{_SAID}"), re.compile(rf"\n(?!{_SAID})")

Columns = Sequence[Sequence[str]]  # from, to, how many


@dataclass(frozen=True, slots=True)
class Histogram:
    operation: str
    count: int
    average: float
    maximum: float
    percentiles: Mapping[str, float]
    statistics: Mapping[str, float] = field(default_factory=dict)
    buckets: Columns = ()


def after(text: str, start: int) -> list[Histogram]:
    """The histograms between a result line and whatever comes next."""
    rest = f"\n{text[start:]}"
    return [_histogram(head, _buckets(rest, head.end())) for head in _heads(rest) if int(head["count"])]


def figures(histograms: Sequence[Histogram]) -> dict[str, float]:
    """With several types of operation each has its own figures; a mean of percentiles would be none."""
    if len(histograms) == 1:
        return _latencies(histograms[0])
    mixed = [item for item in histograms if item.operation in MIXED]
    return {f"{item.operation}_{name}": value for item in mixed for name, value in _latencies(item).items()}


def latencies(histograms: Sequence[Histogram]) -> list[dict[str, float | str]]:
    """What each says of itself: the metrics have no deviation."""
    return [{"operation": item.operation, **item.statistics} for item in histograms]


def buckets(histograms: Sequence[Histogram]) -> list[Buckets]:
    alone = len(histograms) == 1
    named = (("" if alone else item.operation, item.buckets) for item in histograms if item.buckets)
    return [
        Buckets(name, list(map(float, least)), list(map(float, most)), list(map(int, count)))
        for name, (least, most, count) in named
    ]


def _heads(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while text.find(_BEGINS, at) >= 0 and (head := _HEAD.search(text, at)) and not _END.search(text, at, head.start()):
        yield head
        at = head.end()


def _histogram(head: re.Match[str], buckets: Columns) -> Histogram:
    return Histogram(
        operation=head["operation"],
        count=int(head["count"]),
        average=float(head["average"]),
        maximum=float(head["max"]),
        percentiles=_percentiles(head),
        statistics=statistics(head),
        buckets=buckets,
    )


def _percentiles(head: re.Match[str]) -> dict[str, float]:
    return {name: float(value) for name, value in _PERCENTILE.findall(head["percentiles"])}


def statistics(head: re.Match[str]) -> dict[str, float]:
    """Of a match of STATISTICS: all that it says, in microseconds but for the number of operations."""
    names = {"average": "avg_us", "deviation": "stddev_us", "min": "min_us", "median": "median_us", "max": "max_us"}
    said = {name: float(head[group]) for group, name in names.items() if _NUMBER.fullmatch(head[group])}
    known = {PERCENTILES[name]: value for name, value in _percentiles(head).items() if name in PERCENTILES}
    return {"operations": float(head["count"])} | said | known


def _buckets(text: str, start: int) -> Columns:
    """Up to the first line that is none."""
    end = text.find("\n\n", start)
    block = text[start : end if end >= 0 else len(text)]
    found = _BUCKET.findall(block)
    if len(found) != block.count("\n"):
        found = _BUCKET.findall(_OTHER.split(block, 1)[0])
    return list(zip(*found, strict=True))


def _latencies(item: Histogram) -> dict[str, float]:
    known = {PERCENTILES[name]: value for name, value in item.percentiles.items() if name in PERCENTILES}
    return {"avg_us": item.average, "max_us": item.maximum} | known
