"""Figures as people read them."""

from __future__ import annotations

from collections.abc import Callable

from stepgrid.summarize.statistics.confidence_intervals import Interval

WIDEST = 1000.0  # ends of an interval that are further apart say nothing
UNBOUNDED = "unbounded"


def rate(value: float) -> str:
    """54,321 and 3.21: what is below a hundred keeps three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 99.995 else f"{value:.3g}"


def interval(found: Interval) -> str:
    """Of a ratio: where it is told from 1, the end on that side is."""
    if found.low > 1 and found.high / found.low > WIDEST:
        return f"[{ratio(found.low)}, {UNBOUNDED}]"
    if found.high < 1:
        return f"[{ratio(found.low)}, {ratio(found.high)}]"
    return between(found.low, found.high, ratio)


def reach(low: float, high: float) -> str:
    """Of a rate: 940-1,060."""
    return f"{rate(low)}-{rate(high)}" if high / low <= WIDEST else UNBOUNDED


def between(low: float, high: float, shown: Callable[[float], str]) -> str:
    """[1.08, 1.16]; an end that says nothing is not told in digits."""
    if low > 0 and high / low <= WIDEST:
        return f"[{shown(low)}, {shown(high)}]"
    return f"[{UNBOUNDED}]"


def percent(share: float) -> str:
    return f"{share * 100:.3g} %"


def size(value: float) -> str:
    """Bytes, in binary units."""
    for unit in ("bytes", "KiB", "MiB"):
        if abs(value) < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} GiB"
