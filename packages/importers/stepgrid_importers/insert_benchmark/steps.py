"""The steps of a run, in its order: a summary has a row for each, and does not name them."""

from __future__ import annotations

import re
from collections.abc import Sequence

LOADS = ("l.i0", "l.x", "l.i1")
_LISTS: Sequence[Sequence[str]] = (
    (*LOADS, "l.i2", "qr100.L1", "qp100.L2", "qr500.L3", "qp500.L4", "qr1000.L5", "qp1000.L6"),
    (*LOADS, *(f"q{rate}.{again}" for rate in (100, 200, 400, 600, 800, 1000) for again in (1, 2))),
    (*LOADS, *(f"q{rate}.1" for rate in (100, 200, 400, 600, 800, 1000))),
    (*LOADS, "q100.1", "q500.1", "q1000.1"),
)
ALL = frozenset(name for each in _LISTS for name in each)
_QUERY = re.compile(r"q[rp]?(?P<rate>\d+)(?:\.L?\d+)?|q\.L\d+\.ips(?P<ips>\d+)")


def names(count: int) -> Sequence[str] | None:
    """None where it is not known of which steps so many rows are."""
    return next((each for each in _LISTS if len(each) == count), None)


def counts() -> str:
    return ", ".join(str(count) for count in sorted(len(each) for each in _LISTS))


def order(step: str) -> tuple[int, str]:
    """Of the steps of any list."""
    found = (each.index(step) for each in _LISTS if step in each)
    return next(found, len(max(_LISTS, key=len))), step


def asked(step: str) -> int | None:
    """Rows that each client was to insert in a second beside its queries; None for a load."""
    found = _QUERY.fullmatch(step)
    return int(found["rate"] or found["ips"]) if found else None


def known(name: str) -> bool:
    return name in ALL or asked(name) is not None


def clients(rates: Sequence[tuple[str, float]]) -> int | None:
    """From the rows/s of steps: of the one that asks for least, as the others may have failed their rate."""
    queried = [(rate, ips) for step, ips in rates if (rate := asked(step)) is not None]
    if not queried:
        return None
    rate, ips = min(queried)
    return round(ips / rate) or None
