"""Quantities: as specs write them (100M, 8KiB, 30m), and as people read them, in one way everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

COUNTS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
SIZES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
DURATIONS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
SIZED = ("_rate", "_size", "memory")  # how settings end that are bytes
LONGEST = 20  # digits of a number: more than 64 bits have
TIMES = "×"  # the sign of multiplication
DASH = "\u2013"  # between the ends of a range
WIDEST = 1000.0  # an interval whose ends are further apart has no digits
UNBOUNDED = "unbounded"

_NUMBER = re.compile(r"([+-]?\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)", re.ASCII)
_UNITS: Mapping[str, float] = {**COUNTS, **SIZES, **DURATIONS}
_SHOWN_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_POWERS_FROM = 1e15  # figures from here on are shown by their power of ten


class _Kind(NamedTuple):
    expected: str
    units: Mapping[str, float]
    most: float
    bound: str
    suffix: str = ""  # may be left out


_BYTES: Mapping[str, float] = {"": 1, **SIZES}
_KINDS: Mapping[str, _Kind] = {
    "count": _Kind("a count such as 1000, 200k, 100M or 2B", COUNTS, 2**63, "2^63"),
    "size": _Kind("a size such as 4096, 8KiB, 16MiB or 1GiB", _BYTES, 2**60, "2^60"),
    "rate": _Kind("a rate per second such as 2MiB or 1000000", _BYTES, 2**60, "2^60", suffix="/s"),
    "duration": _Kind("a duration such as 30s, 30m or 2h", DURATIONS, 1000 * DURATIONS["d"], "1000d"),
    "percent": _Kind("a percentage such as 5 or 2.5%", {"": 1.0}, 100, "100", suffix="%"),
}


class UnitError(ValueError):
    """Not the quantity that was expected; the message says which."""


def quantity(text: str, kind: str) -> int | float:
    """Read a text as a count, size, rate (bytes or rows per second), duration (seconds) or percent."""
    expected, units, most, bound, suffix = _KINDS[kind]
    match = _NUMBER.fullmatch(text.strip().removesuffix(suffix).rstrip())
    if match is None or match[2] not in units:
        raise UnitError(f"expected {expected}, found `{text}`{_unit_hint(match[2] if match else None, kind)}")
    number = float(match[1]) * units[match[2]]
    if abs(number) > most:
        excerpt = text if len(text) <= 40 else f"{text[:40]}…"
        raise UnitError(f"expected {expected}, found `{excerpt}`: too large (at most {bound})")
    if kind in ("duration", "percent"):
        return number
    if number != int(number):
        raise UnitError(f"expected {expected}, found `{text}`: not a whole number")
    return int(match[1]) * int(units[match[2]]) if match[1].lstrip("+-").isdigit() else int(number)


def _unit_hint(unit: str | None, kind: str) -> str:
    if kind == "duration" and unit == "":
        return ": say the unit"
    if kind in ("size", "rate") and unit in ("K", "k", "M", "G", "B", "KB", "MB", "GB", "kB"):
        return ": sizes are KiB, MiB, GiB only"
    return ""


def number(text: str) -> int | float | None:
    """Read a text in an expression by its suffix alone; None when it is no quantity."""
    match = _NUMBER.fullmatch(text.strip())
    unit = _UNITS.get(match[2]) if match else None
    if match is None or unit is None:
        return None
    if not match[2]:
        digits = match[1].lstrip("+-").replace("_", "")
        return int(match[1]) if digits.isdigit() and len(digits) <= LONGEST else float(match[1])
    value = float(match[1]) * unit
    return int(value) if isinstance(unit, int) and value.is_integer() else value


def as_number(value: object) -> float | None:
    """Take a number as a float; a truth value is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


# Quantities as people read them.


def counted(number: int, noun: str) -> str:
    """Join a number and its noun: 1 stage, 10,000 cells, 2 images or builds."""
    plural = " or ".join(f"{word}s" for word in noun.split(" or "))
    return f"{number:,} {noun if number == 1 else plural}"


def duration(seconds: float) -> str:
    """45s, 3m10s, 2h05m, 3d04h."""
    rounded = max(0, round(seconds))
    minutes, hours, days = rounded // 60, rounded // 3600, rounded // 86400
    if days:
        return f"{days}d{hours % 24:02}h"
    if hours:
        return f"{hours}h{minutes % 60:02}m"
    return f"{minutes}m{rounded % 60:02}s" if minutes else f"{rounded}s"


def seconds(value: float) -> str:
    """2.80 s, as measured; a time that is planned or long ago is a duration."""
    return f"{rate(value)} s"


def size(value: float) -> str:
    """812 B, 1.5 KiB, 7.755 GiB: four digits at most."""
    power = min(int(math.log2(abs(value)) // 10), len(_SHOWN_UNITS) - 1) if 1 <= abs(value) < math.inf else 0
    return f"{value / 1024**power:.4g} {_SHOWN_UNITS[power]}"


def exact_size(value: int) -> str:
    """64 MiB: in the largest unit that it is a whole number of; plain digits where that is none."""
    power = next(power for power in range(len(_SHOWN_UNITS) - 1, -1, -1) if value % 1024**power == 0)
    return f"{value // 1024**power} {_SHOWN_UNITS[power]}" if power and value else str(value)


def rate(value: float) -> str:
    """54,321 and 3.21: below a hundred three digits."""
    if abs(value) >= _POWERS_FROM:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}".rstrip(".")  # 99.96 has none after its point


def short_rate(value: float) -> str:
    """812, 54k, 1.2M: where there is little room."""
    if value >= _POWERS_FROM:
        return f"{value:.1g}"
    for factor, unit in ((1e6, "M"), (1e3, "k")):
        if value >= factor * 0.9995:
            scaled = value / factor
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def figure(value: float, unit: str = "") -> str:
    """Format a rate; a whole number has no decimals, and bytes get a unit of their own."""
    if unit == "B":
        return size(value)
    small = abs(value) < 1e-4 or (value % 1 == 0 and abs(value) < 100)
    return f"{value:.3g}" if small else rate(value)


def short_figure(value: float, unit: str = "") -> str:
    """Write three digits: 304k, 21.5k, 1.23M, 0.352; the digits that a measured figure deserves."""
    if unit == "B":
        amount, _, name = size(value).partition(" ")
        return f"{float(amount):.{4 if abs(float(amount)) >= 999.5 else 3}g} {name}"
    if abs(value) >= 0.9995e12:  # no unit holds it in three digits
        return f"{value:.3g}"
    for factor, suffix in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor * 0.9995:
            return f"{value / factor:#.3g}".rstrip(".") + suffix
    return f"{value:.3g}"


def latency(microseconds: float) -> str:
    """373 µs, 5.27 ms, 1.2 s."""
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= factor * 0.9995:
            return f"{microseconds / factor:.3g} {unit}"
    return f"{microseconds:.3g} µs"


def margin(low: float, high: float) -> str:
    """± 7 %, ± 0.4 %: how far an interval reaches, in one digit below 10 %; nothing of one without a width."""
    reach = math.sqrt(high / low) - 1 if 0 < low < high else 0.0
    if reach < 1:
        return f"± {max(100 * reach, 0.1):.{1 if reach < 0.0095 else 0}f} %" if reach else ""
    return "± over 100 %"


def first(texts: Sequence[str], most: int, suffix: str = "") -> list[str]:
    """Keep the first texts, and count the others: `and 3 more`."""
    return [*texts[:most], *([f"and {len(texts) - most} more{suffix}"] if len(texts) > most else [])]


def fixed(value: float | None, digits: int) -> str | None:
    """Format a number with so many decimals, as published tables have it."""
    return None if value is None else f"{value:.{digits}f}"


def percent(share: float) -> str:
    return f"{share * 100:.3g} %"


# Figures of several loads, ratios and intervals.


def mean(values: Collection[float]) -> float:
    """Average loads, or the runs of a load: geometric, so that figures divide to their ratio, or arithmetic with a 0.

    Figures below 0 have no logarithm either. No rounding takes it out of its values: of equal ones it is that value.
    """
    low, high = min(values), max(values)
    if low <= 0 or low == high:
        return min(max(math.fsum(values) / len(values), low), high)
    return min(max(math.exp(math.fsum(map(math.log, values)) / len(values)), low), high)


def quotient(value: float, base: float) -> float:
    """Divide; 0 / 0 is 1 since nothing has changed, anything else / 0 infinite."""
    if base == 0:
        return 1.0 if value == 0 else math.inf
    return value / base


def ratio(value: float) -> str:
    """1.42; a small one keeps two digits."""
    if math.isinf(value):
        return "inf"
    return f"{value:.2g}" if 0 < value < 0.00995 else f"{value:.2f}" if value < 99.995 else rate(value)


def times(value: float) -> str:
    """1.42×: in a sentence."""
    return f"{'∞' if math.isinf(value) else ratio(value)}{TIMES}"


def ratio_to(value: float, base: float) -> str:
    """1.22; of two zeros 1, without digits that nobody measured."""
    return "1" if value == 0 and base == 0 else ratio(quotient(value, base))


def ratio_with_interval(value: float, low: float, high: float, unit: str = "") -> str:
    """1.12 [1.08, 1.16], the ratio with as many digits as its interval."""
    return f"{telling(low, high)(value)}{unit} {ratio_interval(low, high)}"


def ratio_interval(low: float, high: float) -> str:
    """[1.08, 1.16]; of one that is far too wide, the end on the side of 1 where 1 is outside."""
    if low > 1 and high / low > WIDEST:
        return f"[{ratio(low)}, {UNBOUNDED}]"
    if high < 1 and high > WIDEST * low:
        return f"[{ratio(0.0)}, {ratio(high)}]"
    return interval(low, high, ratio)


def interval(low: float, high: float, form: Callable[[float], str]) -> str:
    """[1.08, 1.16]; one that is far too wide has no digits."""
    if low <= 0 or high / low > WIDEST:
        return f"[{UNBOUNDED}]"
    form = telling(low, high, form)
    return f"[{form(low)}, {form(high)}]"


def span(low: float, high: float) -> str:
    """940-1,060: the interval of a rate; an end of 0 is a figure."""
    form = telling(low, high, rate)
    return f"{form(low)}-{form(high)}" if high <= WIDEST * low or low == 0 else UNBOUNDED


def telling(low: float, high: float, usual: Callable[[float], str] = ratio) -> Callable[[float], str]:
    """Choose `usual`, or more digits, until the ends of an interval are told apart, and an end from a 1 outside it."""

    def with_digits(count: int, value: float) -> str:
        """Show so many decimals, or digits where that would be none or too many."""
        return f"{value:.{count}f}" if 0.05 <= value < 99.995 and count < 6 else f"{value:#.{count}g}"

    near = [end for end in (low, high) if low > 1 or high < 1]
    forms = [usual]
    if low > 0:
        forms += [partial(with_digits, count) for count in range(3, 13)]
    return next((form for form in forms if form(low) != form(high) and form(1.0) not in map(form, near)), usual)
