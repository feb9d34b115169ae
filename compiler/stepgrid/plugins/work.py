"""Work that a step did: figures that runs of the same work have alike, and rows that its reads found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

from stepgrid.model.records import Json
from stepgrid.plugins.driver import Counting, SqlOperations, WorkloadOperations
from stepgrid.plugins.registry import find_driver


class WorkFigure(NamedTuple):
    """A figure that runs with the same settings have alike; else they did other work."""

    metric: str
    text: str  # how it is said: `{:.3g} % of the keys found`
    limit: float  # the largest difference
    of: str = ""  # the metric that it is a percentage of
    draws: str = ""  # a percentage of so many random draws, by their metric: chance is allowed for


def drawn_shares(operations: Iterable[str], noun: str) -> tuple[WorkFigure, ...]:
    """Give the shares of a mix whose operations are drawn at random."""
    texts = ((name, f"{{:.3g}} % of the {noun} were {name}") for name in operations)
    return tuple(WorkFigure(f"{name}_share_pct", text, 5.0, draws="operations") for name, text in texts)


@runtime_checkable
class SameWork(Protocol):
    """A kind that knows these figures of its runs."""

    work_figures: Sequence[WorkFigure]


CLIENT_COUNTS = ("threads", "clients", "requesters")  # settings


@runtime_checkable
class ClientThreads(Protocol):
    """A kind whose clients may have several threads each."""

    def threads(self, settings: Mapping[str, Json]) -> int: ...


def client_count(kind: str, settings: Mapping[str, Any]) -> int | None:
    """Count the threads that send statements at once; None for a kind that has no number of them."""
    if (plugin := _client_threads(kind)) is not None:
        return plugin.threads(settings)
    return max((int(settings[name]) for name in CLIENT_COUNTS if settings.get(name)), default=None)


@cache
def _client_threads(kind: str) -> ClientThreads | None:
    plugin = find_driver(kind)
    return plugin if isinstance(plugin, ClientThreads) else None


# Rows that a server found. A lookup of a missing key is counted as a read by most servers, and finds no row.

FOUND_ROWS = "rows_found_per_op"
FEWEST_ROWS = 0.01  # of an operation: below that, reads found nothing
_READS = ("point_read", "short_range", "full_scan")  # of SqlOperations
MISSES = "miss"  # in the name of a step, or of what it runs: it looks up what is not there


def must_find(name: str, kind: str, settings: Mapping[str, Json]) -> bool:
    """Tell whether each operation of a step is a read of rows that are there; one of missing keys says so."""
    workloads, reads, writes = _sql_workloads(kind, settings)
    return bool(workloads) and workloads <= reads - writes and MISSES not in name.lower()


def must_write(kind: str, settings: Mapping[str, Json]) -> bool:
    """Tell whether each operation of a step is a transaction that writes; a load has rows, many of a transaction."""
    workloads, _, writes = _sql_workloads(kind, settings)
    plugin = find_driver(kind)
    is_counted = isinstance(plugin, Counting) and plugin.counted_work(settings) is not None
    return bool(workloads) and workloads <= writes and not is_counted


def _sql_workloads(kind: str, settings: Mapping[str, Json]) -> tuple[set[str], set[str], set[str]]:
    """Return the workloads of a step, and those of its kind that read and that write; nothing where it is unknown."""
    plugin = find_driver(kind)
    if not isinstance(plugin, WorkloadOperations) or not isinstance(plugin.operations, SqlOperations):
        return set(), set(), set()
    names = {field: {*text.split()} for field, text in plugin.operations._asdict().items()}
    names.pop("transaction_of_several_statements")
    reads = set[str]().union(*(names.pop(field) for field in _READS))
    return {*(plugin.workloads(settings) or ())}, reads, set[str]().union(*names.values())
