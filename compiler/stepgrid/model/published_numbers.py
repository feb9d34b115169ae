"""Numbers as published tables have them, and the rules for ratios."""

from __future__ import annotations

import math


def ratio(value: float, base: float) -> float:
    """0 / 0 is 1: nothing has changed. Anything else / 0 is infinite."""
    if base == 0:
        return 1.0 if value == 0 else math.inf
    return value / base


def ratio_text(value: float, base: float) -> str:
    """1.22; of two zeros 1, and inf, without digits that nobody measured."""
    found = ratio(value, base)
    if base == 0:
        return "1" if value == 0 else "inf"
    return f"{found:.2f}"


def fixed(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"


def general(value: float | None, digits: int) -> str | None:
    """%.6g of a figure that is cut to so many decimals: 0.000 is 0."""
    return None if value is None else f"{float(f'{value:.{digits}f}'):.6g}"
