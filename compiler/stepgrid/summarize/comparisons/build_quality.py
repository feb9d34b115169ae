"""A build's quality in words: what of it stands in the way of a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from stepgrid.plan.difference import CHECKSUM_DIGITS

LIBRARY, RUNNING = "library", "server"
Quality = Mapping[str, Any]

_NAMES: Mapping[str, str] = MappingProxyType({"route": "made as", "march": "-march", "sha256": "checksum"})
_ROUTES: Mapping[str, str] = MappingProxyType(
    {
        "source": "compiled from source",
        LIBRARY: "an official library, with only the client compiled",
        "debian": "Debian packages",
        "maven": "published binaries (Maven)",
        "pypi": "published binaries (PyPI)",
        "system": "a program of this machine",
        RUNNING: "a server that already ran",
    }
)
_ORDER = ("route", "suite", "compiler", "optimisation", "march", "assertions", "architecture")


def differences(one: Quality, other: Quality) -> str:
    """suite bullseye / bookworm; compiler …"""
    return "; ".join(spread([one, other]))


def spread(qualities: Iterable[Quality]) -> list[str]:
    """Of each thing that is not the same in all: what it is in each. Made in two ways they have not the same things:
    what one way does not know of says nothing beyond that."""
    every = list(qualities)
    names = _ordered(name for quality in every for name in quality)
    if len({quality.get("route") for quality in every}) > 1:
        names = [name for name in names if all(name in quality for quality in every)]
    found = {name: dict.fromkeys(_value(name, quality.get(name)) for quality in every) for name in names}
    return [f"{_NAMES.get(name, name)} {' / '.join(values)}" for name, values in found.items() if len(values) > 1]


def words(quality: Quality) -> list[tuple[str, str]]:
    return [(_NAMES.get(name, name), _value(name, quality[name])) for name in _ordered(quality)]


def _ordered(names: Iterable[str]) -> list[str]:
    """What decides most comes first."""
    return sorted(set(names), key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))


def _value(name: str, value: Any) -> str:
    if name == "route":
        return _ROUTES.get(str(value), said(value))
    if name == "sha256" and isinstance(value, Mapping):
        return ", ".join(f"{program} {str(digest)[:CHECKSUM_DIGITS]}…" for program, digest in value.items())
    return said(value)


def said(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {said(each)}" for name, each in value.items()) or "none"
    return ", ".join(map(said, value)) or "none" if isinstance(value, list | tuple) else str(value)
