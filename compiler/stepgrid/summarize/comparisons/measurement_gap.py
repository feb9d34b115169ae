"""Figures that were measured far apart: the machine may have changed meanwhile, and nobody noticed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from stepgrid.model.units import duration
from stepgrid.summarize.comparisons.comparison import Comparison, Entry
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run

FAR_APART = timedelta(days=7)  # where the spec does not say `compare_within`
MOST_GAPS = 3


def whole(runs: Sequence[Run]) -> Iterator[str]:
    """Of all figures together."""
    started = [run.started for run in runs if run.started and run.measured]
    if started and max(started) - min(started) > FAR_APART:
        days = (max(started) - min(started)).days
        yield f"the figures were measured up to {days} days apart ({min(started):%Y-%m-%d} to {max(started):%Y-%m-%d})"


def compared(tables: Iterable[Comparison], within: float) -> Iterator[str]:
    """Of each arm against its base: what the spec's `compare_within` does not allow."""
    far: dict[str, float] = {}
    for table in tables:
        for row in table.rows:
            for column, entry in enumerate(row.entries):
                gap = _gap(entry, row.entries[0].point)
                if gap is not None and gap > within:
                    arm = table.arm_name(table.arms[column])
                    far[", ".join(filter(None, (table.where(row), arm)))] = gap
    if far:
        named = f"{'; '.join([*far][:MOST_GAPS])}{f'; and {len(far) - MOST_GAPS} more' if len(far) > MOST_GAPS else ''}"
        yield (
            f"measured up to {duration(max(far.values()))} from the base, more than `compare_within` "
            f"({duration(within)}): {named}"
        )


def _gap(entry: Entry, base: Point | None) -> float | None:
    """Seconds between the runs of one load, the largest."""
    if entry.point is None or base is None:
        return None
    times = _started(base)
    gaps = [
        abs((when - times[place]).total_seconds()) for place, when in _started(entry.point).items() if place in times
    ]
    return max(gaps, default=None)


def _started(point: Point) -> dict[tuple[int, int], datetime]:
    return {(run.load, run.run): run.started for run in point.runs if run.started}
