"""Rates over time: of each client, and of all together."""

from __future__ import annotations

from collections.abc import Sequence

from stepgrid.drivers.linkbench.parser.report import Line
from stepgrid.model.figures import ClientRate

MICROSECONDS = 1e6
SHORTEST = 0.5  # seconds: the last interval of a step is a part of a second


def of_clients(intervals: Sequence[Line]) -> list[ClientRate]:
    return [
        ClientRate(
            line["client"],
            line["second"],
            "",
            line["operations"] / line["interval"],
            line["longest"] * MICROSECONDS or None,
        )
        for line in intervals
        if line["interval"] > 0
    ]


def of_all(intervals: Sequence[Line]) -> Sequence[tuple[float, float]]:
    """(Seconds since the start, requests or rows per second of all clients), without a short last interval."""
    found: dict[float, float] = {}
    for line in intervals:
        if line["interval"] >= SHORTEST:
            second = float(line["second"])
            found[second] = found.get(second, 0.0) + line["operations"] / line["interval"]
    return list(found.items())
