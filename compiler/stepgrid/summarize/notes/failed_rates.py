"""Arms that failed the rate that their clients were asked for: their queries had less to do beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.conditions import missed_rate
from stepgrid.summarize.data.points import Point

MOST_CASES = 4  # that are named of a step
Section = tuple[str, Sequence[str], Sequence[Point]]  # step, the axes that vary, points


def sentences(sections: Iterable[Section]) -> Iterator[str]:
    """A sentence for each step; medians over the loads."""
    for step, names, points in sections:
        failed = [f"{_arm(point, names)}{said}" for point in points if (said := missed_rate(point))]
        if failed:
            more = f", and {len(failed) - MOST_CASES} more" if len(failed) > MOST_CASES else ""
            yield f"{step}: less than 95 % of the rate that was asked for: {', '.join(failed[:MOST_CASES])}{more}"


def _arm(point: Point, names: Sequence[str]) -> str:
    found = comparison_axes.words(comparison_axes.key(point, names), names)
    return f"{found}: " if found else ""
