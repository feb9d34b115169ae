"""A host looked over, and against a plan: what `stepgrid doctor` shows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from stepgrid.host import activity, facts, locks
from stepgrid.host.facts import foreign_machines, hardware_contradiction
from stepgrid.host.host_check import OK, STOPS, Finding
from stepgrid.host.noise import look
from stepgrid.host.processes import cgroup, launch
from stepgrid.model.plan import Plan
from stepgrid.model.site import Site
from stepgrid.store.store import Store
from stepgrid.workflow.doctor import collector_tools, folders, kernel, tools


class Section(NamedTuple):
    title: str
    findings: tuple[Finding, ...]


def sections(store: Store, site: Site, plan: Plan | None = None) -> Iterator[Section]:
    built = [build.id for build in plan.builds if store.has_build(build.id)] if plan else []
    needed = tools.needed(plan, built) if plan else {}
    if plan:
        yield Section("for this spec", tuple(_for(plan, store, site)))
    yield Section("where things go", tuple(folders.findings(store)))
    yield Section("what the system allows", tuple(kernel.findings()))
    yield Section("programs", tuple(tools.findings(site, needed)))
    noise = look(store.data, site.device, locks.host_lock_path())
    yield Section(f"noise, over {activity.look_seconds():g} s", tuple(noise.findings))


def _for(plan: Plan, store: Store, site: Site) -> Iterator[Finding]:
    yield _hardware(plan, store, site)
    asked = tools.launches(plan.stages)
    yield from map(_allocator, sorted({str(each["malloc"]) for each in asked if each.get("malloc")}))
    yield from map(_processors, sorted({str(each["cpus"]) for each in asked if each.get("cpus")}))
    yield from collector_tools.findings(plan.stages, site)
    limits = [each["memory"] for each in asked if each.get("memory")]
    if limits and launch.scope_refusal(launch.SCOPE) and not cgroup.can_limit():
        mend = "leave `launch: {memory}` out, or run where `systemd-run --user` works"
        yield Finding("memory limits", STOPS, "cannot be given here", None, "given", mend)


def _hardware(plan: Plan, store: Store, site: Site) -> Finding:
    path = store.root if store.root.is_dir() else store.root.absolute().parent
    if sentence := hardware_contradiction(plan.machines, path, site):
        mend = "run it there, or `allow_other_hardware: true` in a site file"
        return Finding("hardware", STOPS, sentence.replace("\n", " "), None, "that of the spec", mend)
    others = foreign_machines(plan.machines, path, site)
    if others:
        said = f"this host is one of {len(plan.machines)} machines; elsewhere: {', '.join(others)}"
        return Finding("hardware", OK, said, sorted(others))
    declared = any(machine.get("declared") for machine in plan.machines.values())
    actual = facts.host_hardware(path, site)
    said = "as the spec says" if declared else "the spec asks for none"
    return Finding("hardware", OK, f"{said}: {actual.get('cpu', 'unknown')}, {actual.get('cores', '?')} cores", actual)


def _processors(cpus: str) -> Finding:
    here = os.sched_getaffinity(0)
    if launch.parse_processors(cpus) <= here:
        return Finding("processors", OK, f"`cpus: {cpus}`", sorted(here))
    said = f"`cpus: {cpus}`: this host gives {launch.format_processors(here)}"
    return Finding(
        "processors", STOPS, said, sorted(here), "all of them", "`launch: {cpus}` of processors of this host"
    )


def _allocator(malloc: str) -> Finding:
    try:
        return Finding(malloc, OK, launch.allocator_library(malloc))
    except launch.LaunchError as error:
        return Finding(malloc, STOPS, str(error), None, "here", f"sudo apt install {launch.PACKAGES[malloc]}")
