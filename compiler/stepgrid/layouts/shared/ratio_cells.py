"""A ratio as a table shows it: `0.97 ±0.02`, and a mark where the builds were not made alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stepgrid.plugins.layout import MARK, Block, LayoutCell

WIDE = 10.0  # farther than that says nothing more
MARGIN = "±: the 95 % interval, its longer side; those of a step and base hold together"


def text(spot: LayoutCell, metric: str, shown: str) -> str:
    margin = spot.margins.get(metric)
    return f"{shown}{'' if margin is None else _reach(margin)}{MARK if spot.unlike else ''}"


def _reach(margin: float) -> str:
    """Rounded up: none is 0."""
    return f" ±{math.ceil(100 * margin) / 100:.2f}" if margin < WIDE else f" ±>{WIDE:.0f}"


def notes(block: Block, metrics: Sequence[str]) -> tuple[str, ...]:
    """What the marks of the table mean."""
    spots = list(block.spots.values())
    unlike = dict.fromkeys(spot.unlike for spot in spots if spot.unlike and spot.ratios)
    margin = any(name in spot.margins for spot in spots for name in metrics)
    return (*([MARGIN] if margin else []), *(f"{MARK} {why}" for why in unlike))
