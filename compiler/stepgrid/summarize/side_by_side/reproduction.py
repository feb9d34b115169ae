"""Whether the second set of results says what the first one said: point by point, within the noise of both hosts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from stepgrid.model import number_format
from stepgrid.model.units import counted
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import RATIO, Comparison, Entry, Line
from stepgrid.summarize.statistics import verdicts

REPRODUCED, NOT, UNDECIDED = "reproduced", "not reproduced", "undecided"
SHOWN = 3  # points that are named


def sentences(tables: Iterable[Comparison]) -> Iterator[str]:
    """`reproduced at 7 of 8 points`, then which are not, and which nobody can tell"""
    found: Mapping[str, list[str]] = {REPRODUCED: [], NOT: [], UNDECIDED: []}
    for table in tables:
        for line in table.lines:
            for entry in line.entries[1:]:
                if entry.kind == RATIO:
                    ratio = entry.idle if entry.ratio is None else number_format.times(entry.ratio)
                    found[word(entry)].append(f"{_where(table, line)} {ratio}")
    points = sum(map(len, found.values()))
    if points:
        yield f"reproduced at {len(found[REPRODUCED])} of {counted(points, 'point')}"
        yield from (f"{name} at {_named(found[name])}" for name in (NOT, UNDECIDED) if found[name])


def word(entry: Entry) -> str:
    """What has no verdict is reproduced within what equal arms come to here, and else not told apart from noise."""
    if entry.verdict == verdicts.SAME:
        return REPRODUCED
    if entry.verdict in verdicts.DIFFERENCES:
        return NOT
    if entry.floor is None or entry.ratio is None:
        return UNDECIDED
    return REPRODUCED if abs(math.log(entry.ratio)) <= math.log1p(entry.floor) else UNDECIDED


def _where(table: Comparison, line: Line) -> str:
    labels = comparison_axes.words(line.labels, table.layout.down)
    return f"{table.step}, {labels}" if labels else table.step


def _named(points: list[str]) -> str:
    more = f"; and {len(points) - SHOWN} more" if len(points) > SHOWN else ""
    return f"{len(points)}: {'; '.join(points[:SHOWN])}{more}"
