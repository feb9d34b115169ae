"""Whether clients sustained the rate that they were asked for: the rule of the insert benchmark's published reports."""

from __future__ import annotations

SUSTAINED = 0.95  # of the target
FAILED = "failed rate"  # the kind of a table's cell whose step did not


def met(rate: float, target: float) -> bool:
    """Both are rounded to whole operations, as published: 950 of 1000 sustains, 949.4 does not."""
    return round(rate) >= round(SUSTAINED * target)
