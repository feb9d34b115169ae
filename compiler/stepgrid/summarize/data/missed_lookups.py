"""Which runs found fewer keys than the steps before them wrote: their figures are of lookups of missing keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stepgrid.model.units import percent
from stepgrid.plugins.hit_rate import EXPECTED, FOUND, WARNING
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run


def marks(point: Point, base: Point) -> Iterator[str]:
    """`fewer keys found than expected in 2 of 5 runs, in 1 of 5 of the base`"""
    arm, against = (sum(map(has_missed, each.runs)) for each in (point, base))
    if arm or against:
        yield (
            f"fewer keys found than expected in {arm} of {len(point.runs)} runs, "
            f"in {against} of {len(base.runs)} of the base"
        )


def sentences(runs: Iterable[Run]) -> Iterator[str]:
    """One for each step."""
    found: dict[str, list[Run]] = {}
    for run in filter(has_missed, runs):
        found.setdefault(run.step, []).append(run)
    for step, missed in found.items():
        builds = ", ".join(dict.fromkeys(run.build for run in missed))
        yield (
            f"{step} of {builds}: found {_percent(missed, FOUND)} of the keys that it looked up; "
            f"{_percent(missed, EXPECTED)} were expected: lookups of missing keys are part of these figures"
        )


def has_missed(run: Run) -> bool:
    return EXPECTED in run.metrics and any(WARNING in text for text in run.warnings)


def _percent(runs: Iterable[Run], metric: str) -> str:
    values = sorted(run.metrics[metric] for run in runs)
    return " to ".join(dict.fromkeys(percent(value / 100) for value in (values[0], values[-1])))
