"""The names of an enumeration, as far as the help of mysqld and mariadbd lists them."""

from __future__ import annotations

import re

_ALL = re.compile(r"\bOne of: (.+)$")  # MariaDB writes it itself: all that it takes
_SAID = re.compile(r"\bPossible values are:? ([^;]+?)(?:; default is \w+)?\.?$")  # somebody's words
_ASIDE = re.compile(r"\s*\([^()]*\)")
_NEXT = re.compile(r",? (?:and|or) |, ")
_NAME = re.compile(r"[A-Za-z][\w-]*")
_PLUGIN = "FORCE"  # whoever takes it also takes FORCE_PLUS_PERMANENT, which MySQL does not list


def choices(help_: str, default: str) -> tuple[str, ...]:
    """None where the list is not clear, or does not even have the default."""
    every = _ALL.search(help_)
    match = every or _SAID.search(help_)
    if match is None:
        return ()
    names = tuple(_NEXT.split(_ASIDE.sub("", match[1]).rstrip(".")))
    plain = all(_NAME.fullmatch(name) for name in names)
    whole = bool(every) or _PLUGIN not in names
    return names if plain and whole and default.lower() in (name.lower() for name in names) else ()
