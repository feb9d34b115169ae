"""Of a plan for several machines: which stages this host leaves to the others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.host import facts
from stepgrid.model.site import Site

Machines = Mapping[str, Mapping[str, Any]]


def foreign(machines: Machines, path: Path, site: Site) -> dict[str, str]:
    """Of several machines, those that this host is not: name -> where it differs."""
    if len(machines) < 2:
        return {}
    differing = _differing(machines, path, site)
    return {name: sentence for name, sentence in differing.items() if sentence}


def contradicted(machines: Machines, path: Path, site: Site) -> str:
    """Where this host differs from every machine of a plan; nothing when it is one of them."""
    differing = _differing(machines, path, site)
    if not differing or not all(differing.values()):
        return ""
    told = "\n".join(f"  {name}: {sentence}" for name, sentence in differing.items())
    return f"this is not the hardware of the spec:\n{told}"


def _differing(machines: Machines, path: Path, site: Site) -> dict[str, str]:
    actual = facts.here(path, site)
    return {name: mismatch(machine, actual) for name, machine in machines.items()}


def mismatch(machine: Mapping[str, Any], actual: Mapping[str, Any]) -> str:
    """Only what the spec declares can be contradicted."""
    return "; ".join(facts.mismatch(machine, actual)) if machine.get("declared") else ""
