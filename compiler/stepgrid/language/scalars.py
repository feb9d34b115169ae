"""Versions, option values and params: what the text of a scalar means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import total_ordering
from itertools import zip_longest

from stepgrid.model import units

_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{units.LONGEST}}}")
_FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d{1,2})?", re.ASCII)
_SIZE = re.compile(r"\d{1,18}(\.\d+)?(KiB|MiB|GiB|TiB)", re.ASCII)
_BOOLEANS = {"true": True, "false": False}
_PART = re.compile(r"\d+|[A-Za-z]+")


def option_value(text: str, quoted: bool = False) -> bool | int | float | str:
    """Read a scalar under `options` as the engine's own number, boolean or text; KiB, MiB and GiB are converted."""
    if quoted:
        return str(text)
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SIZE.fullmatch(text) and isinstance(size := units.number(text), int):
        return size
    return str(text)


def param_value(text: str, quoted: bool = False) -> bool | int | float | str:
    """Read a param as expressions see it: a quantity is its number."""
    if quoted:
        return str(text)
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    number = units.number(text)
    return str(text) if number is None else number


def describe_value(value: object) -> str:
    """Describe the value of an expression for a message."""
    if value is None:
        return "nothing"
    if isinstance(value, bool | int | float | str):
        return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"
    if isinstance(value, list | tuple):
        items = (str(item) if isinstance(item, bool | int | float | str) else describe_value(item) for item in value)
        return f"`{', '.join(items)}`" if value else "an empty list"
    return "a map" if isinstance(value, Mapping) else "what is no value"


@total_ordering
class Version(str):
    """The text of a version, compared number by number: 9.10 is newer than 9.9, and 9.10 equals 9.10.0."""

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
    """Refuse what reads 8.10 as 8.1."""
    if isinstance(other, int | float):
        raise ValueError("a version is compared with a text, in quotes")


def _compare(first: str, second: str) -> int:
    _refuse_number(second)
    for a, b in zip_longest(_parts(first), _parts(second), fillvalue=(1, 0, "")):
        if a != b:
            return -1 if a < b else 1
    return 0


def _parts(text: str) -> list[tuple[int, int, str]]:
    # words (rc1, beta) come before the release that they precede
    return [(1, int(p), "") if p.isdigit() else (0, 0, p.lower()) for p in _PART.findall(str(text))]
