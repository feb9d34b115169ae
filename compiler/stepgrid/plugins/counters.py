"""Counters of engines by what they count, as each engine names its own: what reports and expectations read.

`counter_names` of an engine maps a role below to names, or patterns, whose counters are added up. `A|B` is B only where
there is no A; what follows `!` is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple, Protocol, runtime_checkable

from stepgrid.plugins.registry import ENGINES

FSYNCS, COMMITS = "fsyncs", "commits"  # of the log; also figures of expectations
SYNCS = "syncs"  # all for which a commit may wait
CACHE_HITS, CACHE_MISSES = "cache_hits", "cache_misses"
CACHE_REQUESTS, REQUEST_MISSES = "cache_requests", "request_misses"  # of a cache that counts hits and misses together
LOG_BYTES, ROWS_READ = "log_bytes", "rows_read"
ROW_LOCK_MS = "row_lock_ms"  # milliseconds that sessions waited for locks of rows
ROLES = (
    FSYNCS, COMMITS, SYNCS, CACHE_HITS, CACHE_MISSES, CACHE_REQUESTS, REQUEST_MISSES, LOG_BYTES, ROWS_READ, ROW_LOCK_MS,
)  # fmt: skip


@runtime_checkable
class NamedCounters(Protocol):
    """An engine that says what its counters count."""

    counter_names: Mapping[str, Sequence[str]]  # role -> names, or patterns


class RowCounters(NamedTuple):
    """Counters of rows that reads found, and of what each lookup at least touches."""

    rows: Sequence[str]
    touched: Sequence[str]


@runtime_checkable
class FoundRows(Protocol):
    """An engine that counts the rows that reads find: a lookup of a missing key finds none."""

    found_rows: Sequence[RowCounters]  # the largest counts


class SessionWait(NamedTuple):
    """A thing that the sessions of a server wait for, by the name of its event."""

    event: str  # or a pattern, in small letters
    meaning: str  # as in `waiting for MEANING`
    effect: str  # disk, lock, timer, peer
    is_read: bool = False  # of a block that its cache did not have


@runtime_checkable
class NamedWaits(Protocol):
    """An engine that says what the events of `SessionWaits` are."""

    wait_events: Sequence[SessionWait]  # the first that matches counts


@cache
def role_names(role: str) -> tuple[str, ...]:
    """Collect what the installed engines call it."""
    tables = _declared("counter_names")
    return tuple(dict.fromkeys(name for table in tables for name in table.get(role, ())))


@cache
def wait_events() -> tuple[SessionWait, ...]:
    return tuple(wait for waits in _declared("wait_events") for wait in waits)


@cache
def _declared(attribute: str) -> list[Any]:
    engines = map(ENGINES.get, ENGINES.names())
    return [getattr(engine, attribute) for engine in engines if hasattr(engine, attribute)]


def counters_of(role: str, counters: Mapping[str, float]) -> dict[str, float]:
    """Select the counters of a role."""
    selected: dict[str, float] = {}
    names = role_names(role)
    excluded = {name.removeprefix("!") for name in names if name.startswith("!")}
    for name in names:
        alternatives = (_matching(counters, pattern) for pattern in name.split("|"))
        selected |= next(filter(None, alternatives), {})
    return {name: value for name, value in selected.items() if name not in excluded}


def counted(counters: Mapping[str, float], *roles: str) -> float | None:
    """Add up the counters of roles; None where the engine has none of them."""
    values = [value for role in roles for value in counters_of(role, counters).values()]
    return sum(values) if values else None


def hit_percent(counters: Mapping[str, float]) -> float | None:
    misses = counted(counters, CACHE_MISSES, REQUEST_MISSES)
    hits = (counted(counters, CACHE_HITS, CACHE_REQUESTS) or 0.0) - (counted(counters, REQUEST_MISSES) or 0.0)
    return 100 * hits / (hits + misses) if misses is not None and hits + misses > 0 else None


def rows_found(counters: Mapping[str, float], operations: float) -> float | None:
    """Compute rows per operation; None where the server counted less than a lookup for two operations.

    The largest of its counters: MariaDB's own leaves out what MyRocks reads many at once."""
    counts = [
        rows
        for names, touched in (row for rows in _declared("found_rows") for row in rows)
        if (rows := _total(counters, names)) is not None and (_total(counters, touched) or 0.0) >= operations / 2
    ]
    return max(counts) / operations if counts else None


def _total(counters: Mapping[str, float], patterns: Sequence[str]) -> float | None:
    values = {name: value for pattern in patterns for name, value in _matching(counters, pattern).items()}
    return sum(values.values()) if values else None


def _matching(counters: Mapping[str, float], pattern: str) -> dict[str, float]:
    if pattern in counters:
        return {pattern: counters[pattern]}
    if not {*pattern} & {*"*?["}:
        return {}
    return {name: value for name, value in counters.items() if fnmatchcase(name, pattern)}
