"""The word for one comparison, and what is doubtful about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from stepgrid.model import units
from stepgrid.summarize.comparisons.comparison_cell import NO_BASE, Entry
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.series import Place, Series
from stepgrid.summarize.statistics import confidence_intervals, verdicts
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.outliers import Outlier
from stepgrid.summarize.statistics.timeseries import series_interval

Caveat = Callable[[Point, Point], str | None]  # why two points may have no verdict
INSIDE = "within the noise floor"


def _no_floor(_: Point, __: Point) -> float | None:
    return None


def _no_marks(_: Point, __: Point) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known beside the figures themselves."""

    series: Series
    effect: float
    caveat: Caveat  # how their builds were made
    floor: Callable[[Point, Point], float | None] = _no_floor
    marks: Callable[[Point, Point], Sequence[str]] = _no_marks
    difference: Caveat = lambda _, __: None  # of builds that are compared as shipped
    other_host: Caveat = lambda _, __: None


def judged(entry: Entry, point: Point, base: Point, evidence: Evidence, odd: Sequence[Outlier]) -> Entry:
    """`entry` has its ratio, and its interval where there are loads enough; neither where a load did nothing."""
    losses = _of_both(point.losses, base.losses)
    doubts = (*filter(None, (losses,)), *evidence.marks(point, base))
    entry = replace(entry, losses=losses)
    if idle := idleness(point, base):
        return replace(entry, verdict=verdicts.INCONCLUSIVE, idle=idle, doubts=(idle, *doubts))
    if entry.ratio is None:
        return replace(entry, kind=NO_BASE)
    refusal = evidence.caveat(point, base)
    shipped = None if refusal else evidence.difference(point, base)
    reason = evidence.other_host(point, base) or refusal
    doubts = (*doubts, *map(_odd, odd))
    entry = replace(entry, floor=evidence.floor(point, base), doubts=doubts, caveat=reason, as_shipped=shipped)
    if entry.interval is None:
        return _from_series(entry, point, base, evidence)
    return entry if reason else _verdict(entry, entry.interval, evidence.effect)


def idleness(point: Point, base: Point) -> str:
    """1 of 5 loads did nothing (0 QPS); of the base: 2 of 5 loads did nothing (0 QPS)"""
    return _of_both(point.idleness, base.idleness)


def _of_both(arm: str, base: str) -> str:
    return "; ".join(filter(None, (arm, f"of the base: {base}" if base else "")))


def _verdict(entry: Entry, interval: Interval, effect: float) -> Entry:
    """A difference no larger than what equal arms showed before is not called one, however alike the loads are."""
    word = verdicts.verdict(interval.low, interval.high, effect)
    if word in (*verdicts.DIFFERENCES, verdicts.DIFFERENT) and _inside(entry.floor, interval.ratio):
        return replace(entry, verdict=verdicts.INCONCLUSIVE, doubts=(*entry.doubts, INSIDE))
    return replace(entry, verdict=word)


def _inside(floor: float | None, ratio: float) -> bool:
    return floor is not None and abs(math.log(ratio)) <= math.log1p(floor)


def _from_series(entry: Entry, point: Point, base: Point, evidence: Evidence) -> Entry:
    """One load: the interval of its series around the ratio of the figures, and no verdict."""
    common = point.values().keys() & base.values().keys()
    arm, against = (evidence.series.relative(_places(each, common)) for each in (point, base))
    found = series_interval(arm, against)
    if found is None or entry.ratio is None:
        return replace(entry, verdict=None if entry.caveat else verdicts.ONE_LOAD)
    moved = confidence_intervals.moved(found, entry.ratio)
    word = verdicts.single(moved.low, moved.high, evidence.effect)
    if _inside(entry.floor, entry.ratio):
        word = verdicts.ONE_LOAD
    return replace(entry, interval=moved, verdict=None if entry.caveat else word)


def _places(point: Point, loads: Collection[int]) -> list[Place]:
    return [run.place for run in point.runs if run.load in loads]


def _odd(found: Outlier) -> str:
    without = units.ratio(found.without)
    return f"load {found.load} lies far from the others ({units.ratio(found.alone)}x); without it {without}x"
