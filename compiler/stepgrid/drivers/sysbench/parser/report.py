"""What sysbench prints at its end: statistics, throughput and latency, each found by its name.

1.0 calls a run's length `total time`, 1.1 `time elapsed`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stepgrid.model.figures import ParseError

_NUMBER = r"(\d+(?:\.\d+)?)"
_RATED = re.compile(rf"^ +([a-z ]+): +(\d+) +\({_NUMBER} per sec\.\)$", re.MULTILINE)
_PLAIN = re.compile(rf"^ +([a-z0-9. ()/]+): +{_NUMBER}s?$", re.MULTILINE)
_PERCENTILE = re.compile(rf"^{_NUMBER}th percentile$")
_LATENCY = re.compile(r"^Latency \(ms\):$", re.MULTILINE)
_SECTION = re.compile(r"^\S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CountAndRate:
    """A line with a count and how many that were in a second; the rate also as it stands."""

    count: int
    per_second: float
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    rated: Mapping[str, CountAndRate]  # transactions, queries, ignored errors, reconnects
    queries: Mapping[str, int]  # read, write, other, total
    seconds: float | None
    events: int | None
    latency: Mapping[str, float]  # milliseconds by name: min, avg, max, sum
    percentiles: Mapping[float, float]  # 95.0 -> milliseconds


def report(text: str) -> Report:
    start = text.find("SQL statistics:\n")
    if start < 0:
        raise ParseError("no statistics (`SQL statistics:`)")
    end = text[start:]
    rated = {name: CountAndRate(int(count), float(rate), rate) for name, count, rate in _RATED.findall(end)}
    if "queries" not in rated:
        raise ParseError("no line with the rate of queries (`queries: … (… per sec.)`)")
    plain = dict(_PLAIN.findall(end))
    counts = {name: int(value) for name, value in plain.items() if value.isdecimal()}
    latency = _latency(end)
    seconds = plain.get("total time", plain.get("time elapsed"))
    return Report(
        rated=rated,
        queries={name: counts[name] for name in ("read", "write", "other", "total") if name in counts},
        seconds=float(seconds) if seconds is not None else None,
        events=counts.get("total number of events"),
        latency={name: value for name, value in latency.items() if not _PERCENTILE.match(name)},
        percentiles={float(found[1]): value for name, value in latency.items() if (found := _PERCENTILE.match(name))},
    )


def _latency(text: str) -> dict[str, float]:
    head = _LATENCY.search(text)
    if head is None:
        return {}
    after = _SECTION.search(text, head.end())
    block = text[head.end() : after.start() if after else len(text)]
    return {name: float(value) for name, value in _PLAIN.findall(block)}
