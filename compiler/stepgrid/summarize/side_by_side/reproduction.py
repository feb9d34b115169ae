"""Point by point: a second set of results reproduces the first where its interval lies within the smallest effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stepgrid.model import units
from stepgrid.model.units import counted
from stepgrid.summarize.claims.claim_judgement import UNDECIDED
from stepgrid.summarize.comparisons.comparison import Comparison, Entry
from stepgrid.summarize.statistics import verdicts

REPRODUCED, NOT = "reproduced", "not reproduced"
MOST_POINTS = 3  # points that are named


def sentences(tables: Iterable[Comparison], effect: float) -> Iterator[str]:
    """`reproduced within 2 % at 7 of 8 points`, then which are not, and which nobody can tell"""
    found: Mapping[str, list[str]] = {REPRODUCED: [], NOT: [], UNDECIDED: []}
    for table in tables:
        for case in table.cases():
            entry = case.entry
            ratio = entry.idle if entry.ratio is None else units.times(entry.ratio)
            interval = f" {units.ratio_interval(entry.interval.low, entry.interval.high)}" if entry.interval else ""
            found[word(entry)].append(f"{table.where(case.row)} {ratio}{interval}")
    points = sum(map(len, found.values()))
    if points:
        within = units.percent(effect)
        yield f"reproduced within {within} at {len(found[REPRODUCED])} of {counted(points, 'point')}"
        yield from (f"{name} at {_named(found[name])}" for name in (NOT, UNDECIDED) if found[name])


def word(entry: Entry) -> str:
    if entry.verdict == verdicts.SAME:
        return REPRODUCED
    return NOT if entry.verdict in verdicts.DIFFERENCES else UNDECIDED


def _named(points: list[str]) -> str:
    more = f"; and {len(points) - MOST_POINTS} more" if len(points) > MOST_POINTS else ""
    return f"{len(points)}: {'; '.join(points[:MOST_POINTS])}{more}"
