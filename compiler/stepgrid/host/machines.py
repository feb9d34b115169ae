"""Of a plan for several machines: which stages this host leaves to the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stepgrid.host import facts as host
from stepgrid.language.site.site_file import of_environment
from stepgrid.model.plan import PlannedStage

Machines = Mapping[str, Mapping[str, Any]]


def elsewhere(machines: Machines, stages: Iterable[PlannedStage], path: Path) -> dict[str, str]:
    """Stage -> the machine that it needs. In a plan for one machine nothing is: there a mismatch stops the run."""
    others = foreign(machines, path)
    return {stage.id: stage.hardware for stage in stages if stage.hardware in others} if others else {}


def foreign(machines: Machines, path: Path) -> dict[str, str]:
    """Of several machines, those that this host is not: name -> where it differs."""
    if len(machines) < 2:
        return {}
    actual = host.here(path, of_environment())
    differing = {name: mismatch(facts, actual) for name, facts in machines.items()}
    return {name: sentence for name, sentence in differing.items() if sentence}


def contradicted(machines: Machines, path: Path) -> str:
    """Where this host differs from every machine of a plan; nothing when it is one of them."""
    actual = host.here(path, of_environment())
    differing = {name: mismatch(facts, actual) for name, facts in machines.items()}
    if not differing or not all(differing.values()):
        return ""
    told = "\n".join(f"  {name}: {sentence}" for name, sentence in differing.items())
    return f"this is not the hardware of the spec:\n{told}"


def mismatch(machine: Mapping[str, Any], actual: Mapping[str, Any]) -> str:
    """Only what the spec declares can be contradicted."""
    return "; ".join(host.mismatch(machine, actual)) if machine.get("declared") else ""
