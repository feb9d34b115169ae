"""Lines of a search in the client's report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepgrid.drivers.client_report import PER_DOUBLING
from stepgrid.drivers.vector_search.search_processes import Turn


def runs(turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    """A run lasts from the first query of any client to the last answer."""
    for run in sorted({turn.run for turn in turns}):
        own = [turn for turn in turns if turn.run == run and turn.queries]
        began, ended = min(turn.begins[0] for turn in own), max(turn.ends[-1] for turn in own)
        queries = sum(len(turn.queries) for turn in own)
        yield {"run": run, "queries": queries, "seconds": ended - began, "cpu": sum(turn.cpu for turn in own)}


def rates(turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    """By client and second, since the first query."""
    done = [turn for turn in turns if turn.queries]
    first, last = min(turn.begins[0] for turn in done), max(turn.ends[-1] for turn in done)
    found: dict[tuple[int, int], list[float]] = {}
    for turn in done:
        for begin, end in zip(turn.begins, turn.ends, strict=True):
            found.setdefault((int(end - first), turn.client), []).append(end - begin)
    for (second, client), seconds in sorted(found.items()):
        interval = min(1.0, last - first - second)
        yield {"client": client, "second": second + interval, "interval": interval, "operations": len(seconds),
               "longest": max(seconds)}  # fmt: skip


def latency(turns: Sequence[Turn]) -> dict[str, Any]:
    """Buckets by the logarithm of microseconds, as all our clients have them."""
    import numpy as np

    seconds = np.concatenate([np.subtract(turn.ends, turn.begins) for turn in turns])
    buckets = np.floor(np.log2(np.maximum(seconds * 1e6, 1)) * PER_DOUBLING).astype(int)
    counts: Mapping[int, int] = Counter(buckets.tolist())
    return {"count": len(seconds), "seconds": float(seconds.sum()), "longest": float(seconds.max()),
            "buckets": sorted(counts.items())}  # fmt: skip


def answers(turns: Sequence[Turn], run: int, queries: int) -> list[Sequence[int]]:
    """Of a run, by query."""
    found: list[Sequence[int]] = [()] * queries
    for turn in turns:
        if turn.run == run:
            for query, ids in zip(turn.queries, turn.answers, strict=True):
                found[query] = ids
    return found
