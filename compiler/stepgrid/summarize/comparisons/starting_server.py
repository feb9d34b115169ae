"""What servers said of themselves before the steps of two arms: tables, their own cache, and what was left to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from stepgrid.model import units
from stepgrid.model.figures import (
    CACHE_BYTES,
    CACHED_BYTES,
    DATA_BYTES,
    DEAD_ROWS,
    HISTORY_LENGTH,
    INDEX_BYTES,
    LIVE_ROWS,
    TABLES_TO_VACUUM,
    VACUUMS,
)

SIZE = 0.02  # of tables, indexes and files, relative
FILL = 0.10  # of their bytes per row, relative
WARM = 0.10  # of what fits into the cache
LEFT = 1000.0  # transactions in the history list; fewer are what an idle server may have
DEAD = 0.02  # of all rows
OFTEN = 0.5  # of the runs
State = Mapping[str, float]


def marks(arm: Sequence[State], against: Sequence[State], again: bool) -> Iterator[str]:
    """`again`: they share their loads, so that what is in their tables should be the same."""
    if again:
        yield from _tables(arm, against)
    yield from _cached(arm, against)
    yield from _history(arm, against)
    yield from _dead(arm, against)
    yield from _vacuums(arm, against)


def _tables(arm: Sequence[State], against: Sequence[State]) -> Iterator[str]:
    """`began with 2.4 GiB in tables and indexes for 10,000,000 rows, the base with 2.9 GiB for 10,000,000`"""
    (one, rows), (other, others) = (
        (_median(map(_bytes, each)), _median(_said(each, LIVE_ROWS))) for each in (arm, against)
    )
    if not one or not other:
        return
    fill = _relative(one / rows, other / others) if rows and others else 0.0
    if _relative(one, other) > SIZE or fill > FILL:
        here = f" for {rows:,.0f} rows" if rows else ""
        there = f" for {others:,.0f}" if others else ""
        yield (f"began with {units.size(one)} in tables and indexes{here}, the base with {units.size(other)}{there}")


def _cached(arm: Sequence[State], against: Sequence[State]) -> Iterator[str]:
    """`began with a server's cache that held 12 % of what fits, the base with 95 %`"""
    one, other = (_median(map(_warm, each)) for each in (arm, against))
    if one is not None and other is not None and abs(one - other) >= WARM:
        here, there = (units.percent(each) for each in (one, other))
        yield f"began with a server's cache that held {here} of what fits, the base with {there}"


def _history(arm: Sequence[State], against: Sequence[State]) -> Iterator[str]:
    """`began with 48,000 transactions in the history list, the base with 12`"""
    one, other = (_median(_said(each, HISTORY_LENGTH)) for each in (arm, against))
    if one is not None and other is not None and abs(one - other) >= max(LEFT, max(one, other) / 2):
        yield f"began with {one:,.0f} transactions in the history list, the base with {other:,.0f}"


def _dead(arm: Sequence[State], against: Sequence[State]) -> Iterator[str]:
    """`began with 40,000 dead rows beside 200,000 live ones, the base with 0 beside 200,000`"""
    (one, rows), (other, others) = (
        (_median(_said(each, DEAD_ROWS)), _median(_said(each, LIVE_ROWS))) for each in (arm, against)
    )
    if one is None or other is None or not rows or not others:
        return
    if abs(one / (one + rows) - other / (other + others)) >= DEAD:
        yield (
            f"began with {one:,.0f} dead rows beside {rows:,.0f} live ones, "
            f"the base with {other:,.0f} beside {others:,.0f}"
        )


def _vacuums(arm: Sequence[State], against: Sequence[State]) -> Iterator[str]:
    """`a vacuum was at work or due as 3 of 3 runs began, as 0 of 3 of the base`"""
    one, other = ([*_vacuumed(each)] for each in (arm, against))
    if one and other and abs(sum(one) / len(one) - sum(other) / len(other)) >= OFTEN:
        yield (
            f"a vacuum was at work or due as {sum(one)} of {len(one)} runs began, "
            f"as {sum(other)} of {len(other)} of the base"
        )


def _vacuumed(starts: Sequence[State]) -> Iterator[bool]:
    return (each[VACUUMS] + each.get(TABLES_TO_VACUUM, 0.0) > 0 for each in starts if VACUUMS in each)


def _bytes(state: State) -> float | None:
    return state[DATA_BYTES] + state.get(INDEX_BYTES, 0.0) if DATA_BYTES in state else None


def _warm(state: State) -> float | None:
    """A cache larger than the database is full with all of it."""
    most = min(state.get(CACHE_BYTES, 0.0), _bytes(state) or 0.0)
    return min(1.0, state[CACHED_BYTES] / most) if most and CACHED_BYTES in state else None


def _said(starts: Sequence[State], name: str) -> Iterator[float | None]:
    return (each.get(name) for each in starts)


def _median(found: Iterator[float | None]) -> float | None:
    known = [each for each in found if each is not None]
    return median(known) if known else None


def _relative(one: float, other: float) -> float:
    return abs(one - other) / max(one, other)
