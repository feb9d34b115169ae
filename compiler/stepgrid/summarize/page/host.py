"""The host in a line, and its facts as name and value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stepgrid.host.facts import pseudonym
from stepgrid.model import units
from stepgrid.model.units import counted
from stepgrid.plan.difference import yaml_text

SIZES = ("memory", "swap_bytes", "free_bytes")
PRIVATE = ("hostname",)  # of no use to a reader elsewhere


def line(hardware: Mapping[str, Any], hosts: Mapping[str, Mapping[str, str]]) -> str:
    """`hosts`: by result, what each attempt saw."""
    storage, facts = hardware.get("storage") or {}, next(iter(hosts.values()), {})
    names = {pseudonym(found["hostname"]) for found in hosts.values() if "hostname" in found}
    parts = [
        _text(hardware.get("cpu")),
        counted(hardware["cores"], "core") if isinstance(hardware.get("cores"), int) else None,
        units.size(hardware["memory"]) if isinstance(hardware.get("memory"), (int, float)) else None,
        " on ".join(str(storage[name]) for name in ("filesystem", "device") if storage.get(name)),
        f"kernel {facts['kernel']}" if "kernel" in facts else None,
        _instead(hardware.get("described") or {}),
        f"measured on {len(names)} hosts" if len(names) > 1 else None,
    ]
    return ", ".join(part for part in parts if part) or "not recorded"


def _instead(described: Mapping[str, Any]) -> str | None:
    """What it stood in for, under `allow_other_hardware`."""
    names = ", ".join(str(facts.get("id", "the machine that the spec describes")) for facts in described.values())
    return f"in place of {names}" if names else None


def rows(hardware: Mapping[str, Any], hosts: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """What was planned for, then what every attempt saw, where that is one value."""
    planned = list(_flat("", hardware))
    yield from planned
    yield from (row for row in _seen(hosts) if row not in planned)


def _seen(hosts: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(name for facts in hosts.values() for name in facts if name not in PRIVATE):
        values = dict.fromkeys(facts[name] for facts in hosts.values() if name in facts)
        if len(values) == 1:
            plain = _plain(next(iter(values)))
            yield from _flat("", plain if name == "hardware" and isinstance(plain, dict) else {name: plain})
        elif len(values) <= 3:
            yield _title("", name), " / ".join(values)


def _flat(prefix: str, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name} ", value)
        elif value is not None and name != "declared":
            yield _title(prefix, name), _shown(name, value)


def _title(prefix: str, name: str) -> str:
    return f"{prefix}{name}".replace("_", " ")


def _shown(name: str, value: Any) -> str:
    if name in SIZES and isinstance(value, (int, float)):
        return units.size(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_shown(name, each) for each in value)
    return yaml_text(value) if isinstance(value, Mapping) else str(value)


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
