"""What each client did by the second: its rates, and the longest statement of each kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepgrid.model.figures import ClientRate
from stepgrid_importers.insert_benchmark.client_output import DELETES, INSERTS, QUERIES, Client

_COLUMNS = {"insert": (INSERTS, "max_i"), "delete": (DELETES, "max_d"), "query": (QUERIES, "max_q")}


def rates(clients: Sequence[Client]) -> list[ClientRate]:
    """Of the operations that the step had: all clients print columns of those, too, that it had none of."""
    return [each for operation in _COLUMNS if _any(clients, operation) for each in _of(clients, operation)]


def _any(clients: Sequence[Client], operation: str) -> bool:
    column, _ = _COLUMNS[operation]
    return any(float(row[column]) for client in clients for row in client.intervals)


def _of(clients: Sequence[Client], operation: str) -> Iterator[ClientRate]:
    column, longest = _COLUMNS[operation]
    for number, client in enumerate(clients):
        for row in client.intervals:
            yield ClientRate(number, float(row["t_sec"]), operation, float(row[column]), _us(row.get(longest)))


def _us(printed: str | None) -> float | None:
    """0: no statement ended in the interval."""
    return float(printed) or None if printed is not None else None
