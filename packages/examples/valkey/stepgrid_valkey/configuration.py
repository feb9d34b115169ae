"""Options of a spec as Valkey's configuration, and back: what the server really runs with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stepgrid.model.plan import Value
from stepgrid.plugins.server import Effective, ServerHome

FILE = "valkey.conf"
_SIZE = re.compile(r"(\d+)(b|kb?|mb?|gb?)", re.IGNORECASE)
_UNITS = {"b": 1, "k": 10**3, "kb": 2**10, "m": 10**6, "mb": 2**20, "g": 10**9, "gb": 2**30}


def text(home: ServerHome, options: Mapping[str, Value]) -> str:
    """No network: a socket that only its owner reaches. SIGTERM saves, so that the data folder holds the database."""
    own = {
        "port": "0",
        "unixsocket": str(home.access.socket),
        "unixsocketperm": "700",
        "dir": str(home.data.absolute()),
        "daemonize": "no",
        "shutdown-on-sigterm": "save force",
        "save": "",
    }
    return "".join(f"{name} {_quoted(value)}\n" for name, value in {**own, **_written(options)}.items())


def _written(options: Mapping[str, Value]) -> dict[str, str]:
    return {name: written(value) for name, value in options.items()}


def written(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _quoted(value: str) -> str:
    """One argument; options of several (`save 3600 1`) have them apart."""
    return value if value and value.isprintable() and '"' not in value else f'"{value}"'


def is_number(value: str) -> bool:
    return value.lstrip("-").isdecimal() or _SIZE.fullmatch(value) is not None


def compare(asked: Mapping[str, Any], seen: Mapping[str, str]) -> Effective:
    """What was asked for against what `CONFIG GET` says."""
    differs = {
        name: f"asked for {written(value)}, the server runs with {seen.get(name, 'no such option')}"
        for name, value in asked.items()
        if _plain(written(value)) != _plain(seen.get(name, ""))
    }
    return Effective(dict(seen), differs)


def _plain(value: str) -> str:
    """100mb is 104857600."""
    match = _SIZE.fullmatch(value)
    return str(int(match[1]) * _UNITS[match[2].lower()]) if match else value.lower()
