"""One cell of a table of comparisons."""

from __future__ import annotations

from dataclasses import dataclass

from stepgrid.summarize.data.points import Point
from stepgrid.summarize.statistics.confidence_intervals import Interval

BASE, RATIO, NO_BASE = "base", "ratio", "no base"


@dataclass(frozen=True, slots=True)
class Entry:
    """`kind` is one of the words above, SAME or ABSENT of tables, or the status of a point that is not done."""

    kind: str
    point: Point | None = None
    interval: Interval | None = None
    ratio: float | None = None
    verdict: str | None = None
    caveat: str | None = None  # why there is no verdict
    as_shipped: str | None = None  # what its builds differ in, where they are compared all the same
    same: str | None = None  # the arm, other than the base, whose runs these are
    floor: float | None = None  # equal arms of this experiment stay within it 19 times in 20: 0.013 is 1.3 %
    losses: str = ""  # 2 of 5 loads; 3 failed: its figures are of survivors
    doubts: tuple[str, ...] = ()  # what to know of this very ratio: measured far apart, a load far off, …
    idle: str | None = None  # why there is neither a ratio nor an interval: loads that did nothing
