"""A scalar under `options`: the engine's own number, boolean or text; only KiB, MiB and GiB are converted."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stepgrid.model import units

_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{units.LONGEST}}}")
_FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d{1,2})?", re.ASCII)
_SIZE = re.compile(r"\d{1,18}(\.\d+)?(KiB|MiB|GiB|TiB)", re.ASCII)
_BOOLEANS = {"true": True, "false": False}


def option_value(text: str, quoted: bool = False) -> bool | int | float | str:
    if quoted:
        return str(text)
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SIZE.fullmatch(text) and isinstance(found := units.number(text), int):
        return found
    return str(text)


def described(value: object) -> str:
    """A value that an expression gave, as a message shows it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool | int | float | str):
        return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"
    if isinstance(value, list | tuple):
        return f"`{', '.join(map(_part, value))}`" if value else "an empty list"
    return "a map" if isinstance(value, Mapping) else "what is no value"


def _part(value: object) -> str:
    return str(value) if isinstance(value, bool | int | float | str) else described(value)


def param_value(text: str, quoted: bool = False) -> bool | int | float | str:
    """A param as expressions see it: a quantity is its number."""
    if quoted:
        return str(text)
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    found = units.number(text)
    return str(text) if found is None else found
