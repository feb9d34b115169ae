"""Quantities as specs write them: counts (100M = 10^8), sizes (KiB, MiB, GiB), durations (30m); and as we show them."""

from __future__ import annotations

import re
from collections.abc import Mapping

COUNTS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
SIZES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
DURATIONS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
MOST = {"count": 2**63, "size": 2**60, "rate": 2**60, "duration": 1000 * 86400.0, "percent": 100}
_MOST = {"count": "2^63", "size": "2^60", "rate": "2^60", "duration": "1000d", "percent": "100"}

_NUMBER = re.compile(r"([+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)", re.ASCII)
_EXPECTED = {
    "count": "a count such as 1000, 200k, 100M or 2B",
    "size": "a size such as 4096, 8KiB, 16MiB or 1GiB",
    "rate": "a rate per second such as 2MiB or 1000000",
    "duration": "a duration such as 30s, 30m or 2h",
    "percent": "a percentage such as 5 or 2.5%",
}
_UNITS: Mapping[str, Mapping[str, float]] = {"duration": DURATIONS, "count": COUNTS, "percent": {"": 1.0}}
_OF_BYTES: Mapping[str, float] = {"": 1, **SIZES}
_SUFFIXES = {"rate": "/s", "percent": "%"}  # may be left out
LONGEST = 20  # digits of a number: more than 64 bits have


class UnitError(ValueError):
    """Not the quantity that was expected; the message says what is."""


def quantity(text: str, kind: str) -> int | float:
    """The number that a text means as a count, size, rate (bytes or rows per second), duration (seconds) or percent."""
    match = _NUMBER.fullmatch(text.strip().removesuffix(_SUFFIXES.get(kind, "")).rstrip())
    units = _UNITS.get(kind, _OF_BYTES)
    if match is None or match[2] not in units:
        raise UnitError(f"expected {_EXPECTED[kind]}, found `{text}`{_why(match, kind)}")
    number = float(match[1]) * units[match[2]]
    if abs(number) > MOST[kind]:
        raise UnitError(f"expected {_EXPECTED[kind]}, found `{_short(text)}`: too large (at most {_MOST[kind]})")
    if kind in ("duration", "percent"):
        return number
    if number != int(number):
        raise UnitError(f"expected {_EXPECTED[kind]}, found `{text}`: not a whole number")
    return int(match[1]) * int(units[match[2]]) if match[1].lstrip("+-").isdigit() else int(number)


def number(text: str) -> int | float | None:
    """What a text means in an expression by its suffix alone; None when it is no quantity."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    for units in (COUNTS, SIZES, DURATIONS):
        if match[2] in units:
            return _scaled(match[1], units[match[2]]) if match[2] else _plain(match[1])
    return None


def duration(seconds: float) -> str:
    """45s, 3m10s, 2h05m, 3d04h."""
    whole = max(0, round(seconds))
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if days:
        return f"{days}d{hours % 24:02}h"
    if hours:
        return f"{hours}h{minutes % 60:02}m"
    return f"{minutes}m{whole % 60:02}s" if minutes else f"{whole}s"


def _scaled(text: str, unit: float) -> int | float:
    value = float(text) * unit
    return int(value) if isinstance(unit, int) and value.is_integer() else value


def _plain(text: str) -> int | float:
    digits = text.lstrip("+-").replace("_", "")
    return int(text) if digits.isdigit() and len(digits) <= LONGEST else float(text)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"


def _why(match: re.Match[str] | None, kind: str) -> str:
    if match is None:
        return ""
    unit = match[2]
    if kind == "duration" and not unit:
        return ": say the unit"
    if kind in ("size", "rate") and unit in ("K", "k", "M", "G", "B", "KB", "MB", "GB", "kB"):
        return ": sizes are KiB, MiB, GiB only"
    return ""


# So many of something, in words.


def counted(number: int, noun: str) -> str:
    one, *other = noun.split(" or ")
    plural = " or ".join(f"{each}s" for each in (one, *other))
    return f"{number:,} {noun if number == 1 else plural}"
