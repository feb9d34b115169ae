"""Names that mysqld and mariadbd take beside those that they list: an option with a prefix before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SWITCHES = ("skip", "disable", "enable")


def meant(name: str, catalogue: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """What is known of an option's value; None where the server would not take the name."""
    prefix, _, rest = name.partition("_")
    there = catalogue.get(rest)
    if prefix == "loose":  # a server passes over what it does not know, which a plugin may bring later
        return there or meant(rest, catalogue) or {}
    if there is None:
        return None
    number = there.get("type") == "number"
    if prefix in _SWITCHES and not number:
        return {"type": "switch"}
    return there if prefix == "maximum" and number else None
