"""Versions: the source text, compared number by number."""

from __future__ import annotations

import re
from functools import total_ordering
from itertools import zip_longest

_PART = re.compile(r"\d+|[A-Za-z]+")


@total_ordering
class Version(str):
    """`version >= '7.4'` in an expression; 9.10 is newer than 9.9, and 9.10 equals 9.10.0."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        _refuse_number(other)
        return isinstance(other, str) and _compare(self, other) == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: str) -> bool:
        return _compare(self, other) < 0

    def __gt__(self, other: str) -> bool:
        return _compare(self, other) > 0

    def __le__(self, other: str) -> bool:
        return _compare(self, other) <= 0

    def __ge__(self, other: str) -> bool:
        return _compare(self, other) >= 0


def _refuse_number(other: object) -> None:
    """8.10 is 8.1 to a number."""
    if isinstance(other, int | float):
        raise ValueError("a version is compared with a text, in quotes")


def _compare(left: str, right: str) -> int:
    _refuse_number(right)
    for a, b in zip_longest(_parts(left), _parts(right), fillvalue=(1, 0, "")):
        if a != b:
            return -1 if a < b else 1
    return 0


def _parts(text: str) -> list[tuple[int, int, str]]:
    # words (rc1, beta) come before the release that they precede
    return [(1, int(p), "") if p.isdigit() else (0, 0, p.lower()) for p in _PART.findall(str(text))]
