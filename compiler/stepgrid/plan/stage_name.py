"""What the steps of a stage are called together, where a line of the screen is for them."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 12
FIRST = 3


def called(steps: Sequence[str]) -> str:
    """Of many the first and the last."""
    if len(steps) <= MOST:
        return ", ".join(steps)
    return f"{', '.join(steps[:FIRST])}, … {steps[-1]} ({len(steps)} steps)"
