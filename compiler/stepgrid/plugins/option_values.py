"""What values an option takes, as far as its binary tells: numbers, ranges, booleans, the names of an enumeration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from stepgrid.model.plan import Value

_WHOLE = re.compile(r"[+-]?(\d+|0[xX][0-9a-fA-F]+)")
_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.IGNORECASE)
_MYSQL = re.compile(r"[+-]?\d+(\.\d+)?[kmgtpe]?", re.IGNORECASE)
_POSTGRES = re.compile(r"([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|0x[0-9a-fA-F]+)\s*(B|kB|MB|GB|TB|us|ms|s|min|h|d)?")
_INTEGERS = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-(2**63), 2**63 - 1)}
RANGES: Mapping[str, tuple[int, int]] = MappingProxyType({**_INTEGERS, "uint64": (0, 2**64 - 1)})  # gflags' names

_ON_OFF = ("true", "false", "on", "off", "1", "0")
_BOOLEANS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "rocksdb": ("true", "false", "t", "f", "yes", "no", "y", "n", "1", "0"),
        "mysql": _ON_OFF,
        "mariadb": _ON_OFF,
        "postgres": ("true", "false", "on", "off", "yes", "no", "1", "0", "t", "f", "y", "n"),
    }
)


def wrong(engine: str, info: Mapping[str, Any], value: Value) -> str | None:
    """Why the binary would not take it, as the end of a sentence; None where nothing speaks against it."""
    text = str(value).lower() if isinstance(value, bool) else str(value).strip()
    kind = str(info.get("type", ""))
    if kind in (*RANGES, "double"):
        return _gflags_number(kind, text)
    check = _CHECKS.get(kind)
    return check(engine, info, text) if check else None


def _gflags_number(kind: str, text: str) -> str | None:
    pattern = _REAL if kind == "double" else _WHOLE
    if not pattern.fullmatch(text):
        return f"takes a number ({kind}), not `{text}`{_advice(text)}"
    if kind == "double":
        return None
    least, most = RANGES[kind]
    return None if least <= int(text, 0 if "x" in text.lower() else 10) <= most else _outside(kind, least, most, text)


def _advice(text: str) -> str:
    if re.match(r"\d+\s*[A-Za-z]", text):
        return "; sizes are written in KiB, MiB or GiB"
    return "; a size has no sign" if re.match(r"[+-]\d+\s*[A-Za-z]", text) else ""


def _outside(kind: str, least: object, most: object, text: str) -> str:
    return f"takes {least} to {most}{f' ({kind})' if kind else ''}, not `{text}`"


def _boolean(engine: str, info: Mapping[str, Any], text: str) -> str | None:
    if engine not in _BOOLEANS or text.lower() in _BOOLEANS[engine]:
        return None
    return f"takes {' or '.join(_BOOLEANS[engine][:2])}, not `{text}`"


def _number(engine: str, info: Mapping[str, Any], text: str) -> str | None:
    if engine == "postgres":
        return _postgres_number(info, text)
    if engine in ("mysql", "mariadb") and not _MYSQL.fullmatch(text):
        return f"takes a number, with one letter of K, M, G, T, P or E after it, not `{text}`"
    return None


def _postgres_number(info: Mapping[str, Any], text: str) -> str | None:
    match = _POSTGRES.fullmatch(text)
    if match is None:
        return f"takes a number, with a unit such as kB, MB, GB, ms, s or min, not `{text}`"
    least, most = info.get("least"), info.get("most")
    if match[4] or text.startswith("0x") or not least or not most:
        return None  # with a unit it counts something else than the range does
    if float(least) <= float(text) <= float(most):
        return None
    return f"{_outside('', least, most, text)}: in its own unit, where none is given"


def _choice(engine: str, info: Mapping[str, Any], text: str) -> str | None:
    choices = [str(choice) for choice in info.get("choices") or ()]
    known = {choice.lower() for choice in choices}
    if not known or text.lower() in known or _synonym(engine, known, text.lower(), len(choices)):
        return None
    from difflib import get_close_matches

    nearest = "".join(f"; did you mean {match}?" for match in get_close_matches(text, choices, 1))
    return f"takes one of {', '.join(choices)}, not `{text}`{nearest}"


def _synonym(engine: str, known: set[str], text: str, count: int) -> bool:
    """Where it can be on and off, it takes a boolean; MySQL counts the names of an enumeration from 0."""
    boolean = bool({"on", "off"} & known) and text in _BOOLEANS.get(engine, ())
    return boolean or (engine in ("mysql", "mariadb") and text.isdecimal() and int(text) < count)


def _switch(engine: str, info: Mapping[str, Any], text: str) -> str | None:
    """Of a prefix such as skip_: any value but 0 is one and the same."""
    if text.lower() in ("on", "true", "1", "0"):
        return None
    return f"takes ON, or 0 for the contrary, not `{text}`, which the server takes for ON"


_CHECKS: Mapping[str, Callable[[str, Mapping[str, Any], str], str | None]] = MappingProxyType(
    {"bool": _boolean, "number": _number, "enum": _choice, "switch": _switch}
)
