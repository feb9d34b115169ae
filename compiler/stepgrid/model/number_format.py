"""Figures of our own tables, as people read them."""

from __future__ import annotations

import math

BYTES = ("B", "KiB", "MiB", "GiB", "TiB")


def figure(value: float, unit: str = "") -> str:
    """54,321 and 3.21: what is below a hundred keeps three digits. Bytes get a unit of their own."""
    if unit == "B":
        return size(value)
    if abs(value) >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 1e-4 or value % 1 == 0 else f"{value:#.3g}"


def size(value: float) -> str:
    power = min(int(math.log2(abs(value)) // 10), len(BYTES) - 1) if abs(value) >= 1 else 0
    return f"{value / 1024**power:.4g} {BYTES[power]}"


def ratio(value: float) -> str:
    return "inf" if math.isinf(value) else f"{value:.2f}" if value < 99.995 else f"{value:.3g}"


def unit(metric: str) -> str:
    from stepgrid.plugins.metrics import METRICS

    return METRICS[metric].unit if metric in METRICS else ""
