"""Which runs had a client that used more CPU than its server."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.model.metrics import CLIENT_CPU, SERVER_CPU
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run


def marks(point: Point, base: Point) -> Iterator[str]:
    """`the client used more CPU than its server in 2 of 5 runs, in 1 of 5 of the base`"""
    arm, against = (sum(map(is_heavier, each.runs)) for each in (point, base))
    if arm or against:
        counts = f"in {arm} of {len(point.runs)} runs, in {against} of {len(base.runs)} of the base"
        yield f"the client used more CPU than its server {counts}"


def is_heavier(run: Run) -> bool:
    """Where either part is not known, it is not said."""
    client, server = run.metrics.get(CLIENT_CPU), run.metrics.get(SERVER_CPU)
    return client is not None and server is not None and client > server
