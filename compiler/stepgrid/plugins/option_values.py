"""What values an option takes, as far as its binary and its engine tell: booleans, names of an enumeration, numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepgrid.model.plan import Value
from stepgrid.plugins.engine import Checking
from stepgrid.plugins.engines import engine as engine_named


def wrong(engine: str, info: Mapping[str, Any], value: Value) -> str | None:
    """Why the binary would not take it, as the end of a sentence; None where nothing speaks against it."""
    text = str(value).lower() if isinstance(value, bool) else str(value).strip()
    found, kind = engine_named(engine), info.get("type")
    if not isinstance(found, Checking):
        return None
    if kind == "bool":
        return None if text.lower() in found.booleans else f"takes {' or '.join(found.booleans[:2])}, not `{text}`"
    return _choice(found, info, text) if kind == "enum" else found.value_fault(info, text)


def outside(kind: str, least: object, most: object, text: str) -> str:
    return f"takes {least} to {most}{f' ({kind})' if kind else ''}, not `{text}`"


def _choice(engine: Checking, info: Mapping[str, Any], text: str) -> str | None:
    choices = [str(choice) for choice in info.get("choices") or ()]
    known = {choice.lower() for choice in choices}
    if not known or text.lower() in known or _synonym(engine, known, text.lower()):
        return None
    from difflib import get_close_matches

    nearest = "".join(f"; did you mean {match}?" for match in get_close_matches(text, choices, 1))
    return f"takes one of {', '.join(choices)}, not `{text}`{nearest}"


def _synonym(engine: Checking, known: set[str], text: str) -> bool:
    """Where it can be on and off, it takes a boolean; some count the names of an enumeration from 0."""
    boolean = bool({"on", "off"} & known) and text in engine.booleans
    return boolean or (engine.counts_choices and text.isdecimal() and int(text) < len(known))
