"""Response times of all clients: a histogram and the longest of each kind of statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepgrid.model.figures import LATENCY_LIMITS, Bucket, Buckets, by_column
from stepgrid_importers.insert_benchmark.client_output import KINDS, MAX, Client
from stepgrid_importers.shared.awk import number


def longest(clients: Sequence[Client], kind: str) -> float | None:
    """Seconds."""
    return max((number(each.times[kind][MAX]) for each in clients if kind in each.times), default=None)


def figures(clients: Sequence[Client]) -> dict[str, float]:
    """Of the kinds that there were any of."""
    kinds = (kind for kind in KINDS if any(_counts(clients, kind).values()))
    found = {f"max_{kind.lower()}_seconds": longest(clients, kind) for kind in kinds}
    return {name: seconds for name, seconds in found.items() if seconds is not None}


def buckets(clients: Sequence[Client]) -> list[Buckets]:
    return by_column(bucket for kind in KINDS for bucket in _buckets(clients, kind))


def _buckets(clients: Sequence[Client], kind: str) -> Iterator[Bucket]:
    """The last ends where the longest is."""
    counts, least = _counts(clients, kind), 0.0
    for name, limit in LATENCY_LIMITS.items():
        most = limit if name != "gt" else max(least + 1, 1e6 * (longest(clients, kind) or 0.0))
        if counts.get(name):
            yield kind.lower(), least, most, counts[name]
        least = most


def _counts(clients: Sequence[Client], kind: str) -> Mapping[str, int]:
    found = [each.times[kind] for each in clients if kind in each.times]
    return {name: sum(int(each.get(name, 0)) for each in found) for name in LATENCY_LIMITS}
