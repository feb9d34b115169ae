"""Searches that find all but everything even where they look least: no recall is given up for speed, nor gained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.data.points import Point

RECALL = "recall"
ALL_FOUND = 0.999
FEWEST_SEARCHES = 2  # searches of a build that are a curve
Section = tuple[str, Sequence[str], Sequence[Point]]  # step, the axes that vary, points


def sentences(sections: Iterable[Section]) -> Iterator[str]:
    """A sentence for each build of a step; medians over the loads."""
    for step, names, points in sections:
        known = sorted(
            ((point.build, found[0], point) for point in points if (found := point.spread(RECALL))), key=_key
        )
        for build, group in groupby(known, lambda each: each[0]):
            searches = list(group)
            _, lowest, point = searches[0]
            if len(searches) >= FEWEST_SEARCHES and lowest >= ALL_FOUND:
                arm = comparison_axes.words(comparison_axes.key(point, names), names)
                yield (
                    f"{step} of {build}: recall is {lowest:.4f} or more in all {len(searches)} searches, the lowest at "
                    f"{arm}: smaller indexes, fewer candidates or harder data would show what recall costs"
                )


def _key(each: tuple[str, float, Point]) -> tuple[str, float]:
    return each[:2]
