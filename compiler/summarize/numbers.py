"""Figures as people read them."""

from __future__ import annotations

from compiler.summarize.statistics import Interval


def rate(value: float) -> str:
    """54,321 and 3.21: what is below a hundred keeps three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 99.995 else f"{value:.3g}"


def interval(found: Interval) -> str:
    return f"[{ratio(found.low)}, {ratio(found.high)}]"


def size(value: float) -> str:
    """Bytes, in binary units."""
    for unit in ("bytes", "KiB", "MiB"):
        if abs(value) < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} GiB"
