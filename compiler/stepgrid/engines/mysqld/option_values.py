"""What mysqld and mariadbd take beside what they list: an option with a prefix before it; and which values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

BOOLEANS = ("true", "false", "on", "off", "1", "0")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?[kmgtpe]?", re.IGNORECASE)
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


def value_fault(info: Mapping[str, Any], text: str) -> str | None:
    kind = info.get("type")
    if kind == "number" and not _NUMBER.fullmatch(text):
        size = re.fullmatch(r"(\d+)([KMGT])B", text, re.IGNORECASE)
        hint = f"; did you mean `{size[1]}{size[2].upper()}iB`?" if size else ""
        return f"takes a number, with one letter of K, M, G, T, P or E after it, not `{text}`{hint}"
    if kind == "switch" and text.lower() not in ("on", "true", "1", "0"):  # a prefix: any value but 0 is the same
        return f"takes ON, or 0 for the contrary, not `{text}`, which the server takes for ON"
    return None
