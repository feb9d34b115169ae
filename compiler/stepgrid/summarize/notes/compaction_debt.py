"""Steps in which a few arms compacted what earlier steps had left, and the others did not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from stepgrid.model.units import rate
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.data.points import Point

METRIC = "write_amplification"
FARTHEST, LEAST = 5.0, 5.0  # times the median, and at least
FEWEST_POINTS = 3  # points that have a median worth the name
MOST_ARMS = 3  # that are named
Section = tuple[str, Sequence[str], Sequence[Point]]  # step, the axes that vary, points


def sentences(sections: Iterable[Section]) -> Iterator[str]:
    """q500: write amplification 123 (gc=base), of the others 0.954 to 1.92: …"""
    for step, names, points in sections:
        known = [(point, spread[0]) for point in points if (spread := point.spread(METRIC))]
        middle = median(value for _, value in known) if len(known) >= FEWEST_POINTS else 0.0
        far = [each for each in known if middle and each[1] >= max(FARTHEST * middle, LEAST)]
        if far:
            rest = [value for point, value in known if (point, value) not in far]
            named = ", ".join(f"{rate(value)} ({_words(point, names)})" for point, value in far[:MOST_ARMS])
            more = f" and {len(far) - MOST_ARMS} more" if len(far) > MOST_ARMS else ""
            yield (
                f"{step}: write amplification {named}{more}, of the others {rate(min(rest))} to {rate(max(rest))}: "
                "compactions of what earlier steps left ran beside it in some arms only"
            )


def _words(point: Point, names: Sequence[str]) -> str:
    return comparison_axes.words(comparison_axes.key(point, names), names)
