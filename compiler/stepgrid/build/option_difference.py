"""Differences between the catalogues of two builds: options that only one has, other defaults, other types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stepgrid.model.records import Catalogue, OptionInfo

DEFAULT, TYPE, ONLY_FIRST, ONLY_SECOND = "default", "type", "only-first", "only-second"
KINDS = (DEFAULT, TYPE, ONLY_FIRST, ONLY_SECOND)

_EXACT = 15  # digits that a double surely holds
_BOOLEANS = {"true": "true", "on": "true", "yes": "true", "false": "false", "off": "false", "no": "false"}


class OptionDifference(NamedTuple):
    option: str
    kind: str
    first: OptionInfo | None  # None where this build has no such option
    second: OptionInfo | None

    @property
    def help(self) -> str:
        """The second's text, which is mostly the newer."""
        return (self.second or self.first or OptionInfo()).help


def differences(first: Catalogue, second: Catalogue) -> list[OptionDifference]:
    """List differences by kind, then by name; a type that changed with its default counts as another default."""
    return sorted(_compare(first, second), key=lambda difference: (KINDS.index(difference.kind), difference.option))


def _compare(first: Catalogue, second: Catalogue) -> Iterator[OptionDifference]:
    for name in first.keys() | second.keys():
        one, other = first.get(name), second.get(name)
        if one is None or other is None:
            yield OptionDifference(name, ONLY_SECOND if one is None else ONLY_FIRST, one, other)
        elif not same(default(one), default(other)):
            yield OptionDifference(name, DEFAULT, one, other)
        elif one.type != other.type:
            yield OptionDifference(name, TYPE, one, other)


def default(info: OptionInfo) -> str:
    return shorten_number(info.default)


def shorten_number(value: str) -> str:
    """Return 2.517, of which gflags prints 2.5169999999999999."""
    digits = value.strip("-").replace(".", "", 1)
    return repr(float(value)) if "." in value and digits.isdecimal() and len(digits) > _EXACT else value


def same(one: str, other: str) -> bool:
    """Tell whether two texts are one value, such as 0.5 and 0.500000, or ON and true."""
    if one == other:
        return True
    if one.lower() in _BOOLEANS and other.lower() in _BOOLEANS:
        return _BOOLEANS[one.lower()] == _BOOLEANS[other.lower()]
    try:
        return float(one) == float(other)
    except ValueError:
        return False
