"""Which runs of a comparison never came to a steady state: their figures are of a state on its way."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.collect.figures.series import NOT_STEADY
from stepgrid.summarize.data.measurements import Point
from stepgrid.summarize.data.parquet_reader import Run


def marks(point: Point, base: Point) -> Iterator[str]:
    """`no steady state in 2 of 5 runs, in 1 of 5 of the base`"""
    arm, against = (_counted(each) for each in (point, base))
    if arm[0] or against[0]:
        yield f"{NOT_STEADY} in {arm[0]} of {arm[1]} runs, in {against[0]} of {against[1]} of the base"


def unsteady(run: Run) -> bool:
    """It was tested, and has no start of a steady part."""
    return "steady_change_pct" in run.metrics and "steady_from_s" not in run.metrics


def _counted(point: Point) -> tuple[int, int]:
    tested = [run for run in point.runs if "steady_change_pct" in run.metrics]
    return sum(map(unsteady, tested)), len(tested)
