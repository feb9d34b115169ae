"""Clients that used more CPU than their server: what was measured is the client as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stepgrid.model.metrics import CLIENT_CPU, SERVER_CPU
from stepgrid.model.units import figure
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.data.points import Point

MESSAGE = "the client used more CPU than its server, in µs per operation"
MOST_ARMS = 4  # that are named of a step
Section = tuple[str, Sequence[str], Sequence[Point]]  # step, the axes that vary, points


def sentences(sections: Iterable[Section]) -> Iterator[str]:
    """A sentence for each step; medians over the loads."""
    for step, names, points in sections:
        busy = [f"{_arm(point, names)}{said}" for point in points if (said := _busy(point))]
        if busy:
            more = f", and {len(busy) - MOST_ARMS} more" if len(busy) > MOST_ARMS else ""
            yield f"{step}: {MESSAGE}: {', '.join(busy[:MOST_ARMS])}{more}"


def _arm(point: Point, names: Sequence[str]) -> str:
    found = comparison_axes.words(comparison_axes.key(point, names), names)
    return f"{found}: " if found else ""


def _busy(point: Point) -> str:
    client, server = point.spread(CLIENT_CPU), point.spread(SERVER_CPU)
    if client is None or server is None or client[0] <= server[0]:
        return ""
    return f"{figure(client[0])} against {figure(server[0])}"
