"""Steps whose runs took less than a second: a figure of so short a time is one of its noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stepgrid.model.units import rate
from stepgrid.summarize.data.points import Point

SHORT = 1.0  # seconds
Section = tuple[str, Sequence[str], Sequence[Point]]  # step, the axes that vary, points


def sentences(sections: Iterable[Section]) -> Iterator[str]:
    """One for all steps, each with its shortest run."""
    found = {step: min(seconds) for step, _, points in sections if (seconds := list(_seconds(points)))}
    short = [f"{step}, {rate(seconds)} s" for step, seconds in found.items() if seconds < SHORT]
    if short:
        yield (
            f"runs of less than a second say little of a speed ({'; '.join(short)} and up): "
            "more rows or keys make them longer, `times:` makes several of each"
        )


def _seconds(points: Sequence[Point]) -> Iterator[float]:
    yield from (seconds for point in points for run in point.runs if (seconds := run.metrics.get("seconds")))
