"""A scalar under `options`: the engine's own number, boolean or text; only KiB, MiB and GiB are converted."""

from __future__ import annotations

import re

from compiler.language import units

_INTEGER = re.compile(r"[+-]?\d+")
_FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")
_SIZE = re.compile(r"\d+(\.\d+)?(KiB|MiB|GiB|TiB)")
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
    if _SIZE.fullmatch(text):
        return int(units.quantity(text, "size"))
    return str(text)


def param_value(text: str, quoted: bool = False) -> bool | int | float | str:
    """A param as expressions see it: a quantity is its number."""
    if quoted:
        return str(text)
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    found = units.number(text)
    return str(text) if found is None else found
