"""Programs that launches, collectors and builds need: which are here, and which a plan asks for."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from stepgrid.build.recipe import PACKAGES as TOOL_PACKAGES
from stepgrid.host.host_check import OK, STOPS, WARNING, Finding
from stepgrid.host.processes import launch
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.site import Site
from stepgrid.plugins.registry import engine

USES = {
    "numactl": "`launch: {numa}`",
    "taskset": "`launch: {cpus}`",
    "perf": "collectors of perf",
    "iostat": "looking at a device oneself",
    "git": "builds from git",
    "cc": "builds from source",
    "c++": "builds from source",
    "make": "builds from source",
    "cmake": "builds from source",
    "ninja": "builds from source",
}
PACKAGES = {**TOOL_PACKAGES, "taskset": "util-linux", "perf": "linux-perf", "iostat": "sysstat"}
SOURCES = {"git": ("git",), "maven": ("mvn",), "crate": ("cargo",), "debian-source": ("dpkg-source",)}


def findings(site: Site, needed: Mapping[str, str]) -> Iterator[Finding]:
    """`needed`: a program -> what a spec needs it for; without it nothing of that can run."""
    for name in {**USES, **needed}:
        path = shutil.which(site.tool(name))
        purpose = needed.get(name) or USES.get(name, "")
        if path:
            yield Finding(name, OK, path, path)
        else:
            mend = f"sudo apt install {PACKAGES.get(name, name)}, or `tools:` of a site file"
            said = f"not here; for {purpose}"
            yield Finding(name, STOPS if name in needed else WARNING, said, mend=mend)


def needed(plan: Plan, built: Iterable[str]) -> dict[str, str]:
    """Program -> what for, of the stages of a plan and of the builds that are not made yet."""
    made = set(built)
    found = {tool: f"the build {build.name}" for build in plan.builds if build.id not in made for tool in _tools(build)}
    for asked in launches(plan.stages):
        found |= {"numactl": "`launch: {numa}`"} if asked.get("numa") and launch.numa_nodes() > 1 else {}
        found |= {"taskset": "`launch: {cpus}`"} if asked.get("cpus") else {}
    return found


def launches(stages: Iterable[PlannedStage]) -> list[Mapping[str, Any]]:
    asked = [step.setup.get("launch") for stage in stages for step in stage.steps]
    return [cast(Mapping[str, Any], each) for each in asked if each]


def _tools(build: PlannedBuild) -> Iterator[str]:
    from stepgrid.build.ready_programs import recipe_of

    recipe = recipe_of(build, engine(build.engine))
    for key in build.source:
        yield from SOURCES.get(key, ())
    yield from recipe.tools if recipe else ()
