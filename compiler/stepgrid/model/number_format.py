"""Numbers as people read them: sizes, rates, ratios, shares and intervals, each shown in one way everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_PLAIN = 1e15  # figures from here on are shown by their power of ten
WIDEST = 1000.0  # ends of an interval that are further apart say nothing
UNBOUNDED = "unbounded"
TIMES = "×"  # the sign of multiplication


def size(value: float) -> str:
    """812 B, 1.5 KiB, 7.755 GiB: four digits at most."""
    power = min(int(math.log2(abs(value)) // 10), len(BYTES) - 1) if abs(value) >= 1 else 0
    return f"{value / 1024**power:.4g} {BYTES[power]}"


def exact_size(value: int) -> str:
    """64 MiB: in the largest unit that it is a whole number of; plain digits where that is none."""
    power = next(power for power in range(len(BYTES) - 1, -1, -1) if value % 1024**power == 0)
    return f"{value // 1024**power} {BYTES[power]}" if power and value else str(value)


def rate(value: float) -> str:
    """54,321 and 3.21: what is below a hundred keeps three digits."""
    if abs(value) >= _PLAIN:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}".rstrip(".")  # 99.96 has none after its point


def short_rate(value: float) -> str:
    """812, 54k, 1.2M: where there is little room."""
    if value >= _PLAIN:
        return f"{value:.1g}"
    for factor, unit in ((1e6, "M"), (1e3, "k")):
        if value >= factor * 0.9995:
            scaled = value / factor
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def figure(value: float, unit: str = "") -> str:
    """A rate; a whole number has no decimals, and bytes get a unit of their own."""
    if unit == "B":
        return size(value)
    small = abs(value) < 1e-4 or (value % 1 == 0 and abs(value) < 100)
    return f"{value:.3g}" if small else rate(value)


def seconds(value: float) -> str:
    """Measured: 2.80 s. What is planned or long ago is a duration (model/units)."""
    return f"{rate(value)} s"


def percent(share: float) -> str:
    return f"{share * 100:.3g} %"


def fixed(value: float | None, digits: int) -> str | None:
    """With so many decimals, as published tables have it."""
    return None if value is None else f"{value:.{digits}f}"


def quotient(value: float, base: float) -> float:
    """0 / 0 is 1: nothing has changed. Anything else / 0 is infinite."""
    if base == 0:
        return 1.0 if value == 0 else math.inf
    return value / base


def ratio(value: float) -> str:
    """1.42; what is small keeps two digits."""
    if math.isinf(value):
        return "inf"
    return f"{value:.2g}" if 0 < value < 0.00995 else f"{value:.2f}" if value < 99.995 else f"{value:.3g}"


def telling(low: float, high: float, usual: Callable[[float], str] = ratio) -> Callable[[float], str]:
    """Choose `usual`, or more digits, until the ends of an interval are told apart, and an end from a 1 outside it."""
    near = [end for end in (low, high) if low > 1 or high < 1]
    forms = [usual]
    if low > 0:
        forms += [partial(digits, count) for count in range(3, 13)]
    return next((form for form in forms if form(low) != form(high) and form(1.0) not in map(form, near)), usual)


def digits(count: int, value: float) -> str:
    """Show so many decimals, or digits where that would be none or too many."""
    return f"{value:.{count}f}" if 0.05 <= value < 99.995 and count < 6 else f"{value:#.{count}g}"


def times(value: float) -> str:
    """1.42×: in a sentence."""
    return f"{ratio(value)}{TIMES}"


def ratio_to(value: float, base: float) -> str:
    """1.22; of two zeros 1, without digits that nobody measured."""
    return "1" if value == 0 and base == 0 else ratio(quotient(value, base))


def ratio_interval(low: float, high: float) -> str:
    """Of a ratio: where it is told from 1, the end on that side is."""
    if low > 1 and high / low > WIDEST:
        return f"[{ratio(low)}, {UNBOUNDED}]"
    if high < 1 and high > WIDEST * low:
        return f"[{ratio(0.0)}, {ratio(high)}]"
    return interval(low, high, ratio)


def ratio_with_interval(value: float, low: float, high: float, unit: str = "") -> str:
    """1.12 [1.08, 1.16], the ratio with as many digits as its interval."""
    return f"{telling(low, high)(value)}{unit} {ratio_interval(low, high)}"


def interval(low: float, high: float, shown: Callable[[float], str]) -> str:
    """[1.08, 1.16]; an end that says nothing is not told in digits."""
    if low <= 0 or high / low > WIDEST:
        return f"[{UNBOUNDED}]"
    form = telling(low, high, shown)
    return f"[{form(low)}, {form(high)}]"


def span(low: float, high: float) -> str:
    """Of a rate: 940-1,060; an end of 0 is a figure."""
    form = telling(low, high, rate)
    return f"{form(low)}-{form(high)}" if high <= WIDEST * low or low == 0 else UNBOUNDED
