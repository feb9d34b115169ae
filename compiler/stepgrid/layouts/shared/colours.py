"""Which figures of a column stand out, by the published rules: the best and the worst quarter of their range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

BEST, WORST, FAILED = "best", "worst", "sla"
QUARTER = 0.25
ALIKE = 0.8  # of the highest: from there on nothing is bad


class Marked(NamedTuple):
    value: float | None
    kept: bool = True  # the rate that was asked of it; one that did not counts for nothing here


def coloured(column: Sequence[Marked]) -> list[str]:
    """What failed its rate is grey; of the others red up to a quarter above the lowest, green in the upper quarter."""
    known = [each.value for each in column if each.kept and each.value is not None]
    if not known:
        return ["" if each.kept else FAILED for each in column]
    return [_kind(each, min(known), max(known)) for each in column]


def _kind(each: Marked, low: float, high: float) -> str:
    if not each.kept or each.value is None:
        return FAILED if not each.kept else ""
    margin = QUARTER * (high - low)
    if low < ALIKE * high and each.value <= low + margin:
        return WORST
    return BEST if high > low and each.value >= high - margin else ""


def relative_colour(ratio: str) -> str:
    """Of a figure relative to the first row: below 0.95, above 1.05."""
    value = float(ratio)
    return "less" if value < 0.95 else "more" if value > 1.05 else ""
