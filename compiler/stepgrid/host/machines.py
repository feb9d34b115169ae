"""Of a plan for several machines: which stages this host leaves to the others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.host import cluster_job, facts
from stepgrid.model.site import Site

Machines = Mapping[str, Mapping[str, Any]]
UNNAMED = "the site file's `slurm: machines` has no entry for it"


def foreign(machines: Machines, path: Path, site: Site) -> dict[str, str]:
    """Of several machines, those that this host is not: name -> where it differs."""
    if len(machines) < 2:
        return {}
    if cluster_job.active():
        return unnamed(machines, site)
    differing = _differing(machines, path, site)
    return {name: sentence for name, sentence in differing.items() if sentence}


def unnamed(machines: Machines, site: Site) -> dict[str, str]:
    """Of a run on a cluster, the machines that the site file gives no nodes for; without its word all may be there."""
    slurm = site.slurm
    if slurm is None:
        return {}
    return {name: UNNAMED for name, said in machines.items() if slurm.of(name, bool(said.get("declared"))) is None}


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
    """Only what the spec declares can be contradicted; on a cluster, also what the machine is that compiled it."""
    if not machine.get("declared") and not cluster_job.active():
        return ""
    found = "; ".join(facts.mismatch(machine, actual))
    if found and not machine.get("declared"):
        return f"`hardware: here` is the machine that started the run, and this node is another: {found}"
    return found
