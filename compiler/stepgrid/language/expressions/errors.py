"""What Python and Jinja2 say of an expression, in the words of a spec."""

from __future__ import annotations

import re
from collections.abc import Callable

_KINDS = {
    "str": "a text", "Text": "a text", "int": "a number", "float": "a number", "bool": "true or false",
    "list": "a list", "dict": "a map", "tuple": "a list", "NoneType": "nothing", "range": "a range", "View": "a map",
    "Label": "a label", "Machine": "the hardware", "Version": "a version", "function": "a function",
    "builtin_function_or_method": "a function", "generator": "a list", "method": "a function",
}  # fmt: skip

_SAID: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), told)
    for pattern, told in (
        (
            r"unsupported operand type\(s\) for (\S+?)(?: or pow\(\))?: '(\w+)' and '(\w+)'",
            lambda m: f"there is no `{m[1]}` of {_kind(m[2])} and {_kind(m[3])}",
        ),
        (r"name 'inf' is not defined", lambda m: "it would be infinite"),
        (r"name 'nan' is not defined", lambda m: "it would be no number"),
        (r"bad operand type for unary (\S+): '(\w+)'", lambda m: f"there is no `{m[1]}` of {_kind(m[2])}"),
        (
            r"'\S+' not supported between instances of '(\w+)' and '(\w+)'",
            lambda m: f"{_kind(m[1])} and {_kind(m[2])} have no order",
        ),
        (
            r"can only concatenate \w+ \(not \"(\w+)\"\) to (\w+)",
            lambda m: f"there is no `+` of {_kind(m[2])} and {_kind(m[1])}: `~` joins texts",
        ),
        (r"access to attribute '(\w+)' of '\w+' object is unsafe", lambda m: f"`{m[1]}` is not for specs"),
        (r"'(\w+)' object is not (?:iterable|subscriptable)", lambda m: f"{_kind(m[1])} has no parts"),
        (r"argument of type '(\w+)' is not (?:iterable|a container)", lambda m: f"{_kind(m[1])} has no parts"),
        (r"'(\w+)' object is not callable", lambda m: f"{_kind(m[1])} cannot be called"),
        (r"object of type '(\w+)' has no len\(\)", lambda m: f"{_kind(m[1])} has no length"),
        (
            r"can't multiply sequence by non-int of type '(\w+)'",
            lambda m: f"there is no `*` of a text and {_kind(m[1])}",
        ),
        (r"'(\w+)' object cannot be interpreted as an integer", lambda m: f"{_kind(m[1])} is no whole number"),
        (r"type (\w+) doesn't define __round__ method", lambda m: f"{_kind(m[1])} cannot be rounded"),
        (r"No (filter|test) named '(\w+)'", lambda m: f"there is no {m[1]} `{m[2]}`"),
        (r"unexpected 'end of (?:template|print statement)'", lambda m: "it ends too early"),
        (r"chunk after expression", lambda m: "more follows where it ends"),
        (
            r"expected token 'end of (?:print statement|statement block)', got '(.+)'",
            lambda m: f"`{m[1]}` cannot follow",
        ),
        (
            r"expected token '(.+)', got 'end of (?:template|print statement)'",
            lambda m: f"`{m[1]}` is missing at its end",
        ),
        (r"expected token '(.+)', got '(.+)'", lambda m: f"`{m[2]}` stands where `{m[1]}` is expected"),
        (r"Exceeds the limit \((\d+) digits\)", lambda m: f"a number has more than {m[1]} digits"),
        (r"(?:integer |float )?(?:division|modulo|division or modulo) by zero", lambda m: "a division by zero"),
    )
)


def told(message: str) -> str:
    """The first sentence that fits, else what they say."""
    for pattern, sentence in _SAID:
        if match := pattern.search(message):
            return sentence(match)
    return message


def _kind(name: str) -> str:
    return _KINDS.get(name, "another value")
