"""Colours of published tables: the best and the worst of a column, and what is far from the first row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stepgrid.model.rate_target import FAILED

BEST, WORST = "best", "worst"
LESS, MORE = "less", "more"
QUARTER = 0.25
ALIKE = 0.8  # of the highest: from there on nothing is bad
FAR = 0.05


class ColouredValue(NamedTuple):
    value: float | None
    kept: bool = True  # the rate that was asked of it; one that did not counts for nothing here


def coloured(column: Sequence[ColouredValue]) -> list[str]:
    """What failed its rate is grey; of the others red up to a quarter above the lowest, green in the upper quarter."""
    known = [each.value for each in column if each.kept and each.value is not None]
    if not known:
        return ["" if each.kept else FAILED for each in column]
    return [_kind(each, min(known), max(known)) for each in column]


def _kind(each: ColouredValue, low: float, high: float) -> str:
    if not each.kept or each.value is None:
        return FAILED if not each.kept else ""
    margin = QUARTER * (high - low)
    if low < ALIKE * high and each.value <= low + margin:
        return WORST
    return BEST if high > low and each.value >= high - margin else ""


def relative(ratio: float) -> str:
    """Of a figure relative to the first row, as it is shown."""
    return LESS if ratio < 1 - FAR else MORE if ratio > 1 + FAR else ""
