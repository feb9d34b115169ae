"""Rates over time: of each client, of all together, and what published tables make of the first client's alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepgrid.drivers.insert_benchmark.parser.report import Line
from stepgrid.model.figures import ClientRate

COUNTS: Mapping[str, str] = {"insert": "inserts", "delete": "deletes", "query": "queries"}
MICROSECONDS = 1e6
FEWEST = 10  # of fewer intervals published tables say nothing
SHORTEST = 0.5  # seconds: the last interval of a step is a part of a second

Series = Sequence[tuple[float, float]]


def of_clients(intervals: Sequence[Line]) -> list[ClientRate]:
    return [rate for line in intervals for rate in _of_line(line)]


def _of_line(line: Line) -> Iterator[ClientRate]:
    for operation, count in COUNTS.items():
        if count in line and line["interval"] > 0:
            longest = float(line[f"max_{operation}"]) * MICROSECONDS
            rate = line[count] / line["interval"]
            yield ClientRate(line["client"], line["second"], operation, rate, longest or None)


def of_all(intervals: Sequence[Line], operation: str) -> Series:
    """(Seconds since the start, rows or queries per second of all clients), without a short last interval."""
    found: dict[float, float] = {}
    for line in intervals:
        if COUNTS[operation] in line and line["interval"] >= SHORTEST:
            second = float(line["second"])
            found[second] = found.get(second, 0.0) + line[COUNTS[operation]] / line["interval"]
    return list(found.items())


def of_first_client(intervals: Sequence[Line], operation: str) -> dict[str, float]:
    """The published p50 and p99: of the rates, the highest first, those in the middle and near the end."""
    found = of_all([line for line in intervals if line["client"] == 0], operation)
    rates = sorted((rate for _, rate in found), reverse=True)
    if len(rates) < FEWEST:
        return {}
    shares = {"first_client_p50_rate": 0.5, "first_client_p99_rate": 0.99}
    return {name: rates[max(1, int(share * len(rates) + 0.5)) - 1] for name, share in shares.items()}


def reached(series: Series, percent: float) -> float:
    """The rate that so many per cent of the intervals reach."""
    rates = sorted(rate for _, rate in series)
    return rates[int(len(rates) * (1 - percent / 100))]
