"""Needs of a plan that this host may lack: tools, clients of registries, a placement on its processors."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepgrid.build.recipe import PACKAGES as TOOL_PACKAGES
from stepgrid.language.sources import REQUIREMENTS, network_sources, source_parts
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage
from stepgrid.model.site import Site
from stepgrid.model.table import group
from stepgrid.model.units import counted, first
from stepgrid.plugins.registry import COLLECTORS, engine, server_engine
from stepgrid.plugins.work import client_count
from stepgrid.store.store import Store

FEW_PROCESSORS, MOST_NAMED = 4, 3

PACKAGES = {**TOOL_PACKAGES, "taskset": "util-linux", "perf": "linux-perf", "iostat": "sysstat"}
SOURCE_TOOLS = {
    "git": "git",
    "maven": "mvn",
    "crate": "cargo",
    "debian-source": "dpkg-source",
    "cargo": "cargo",
    "go": "go",
    "npm": "npm",
}


def launch_line() -> str:
    return f"`launch: {{cpus: {max(os.sched_getaffinity(0))}}}`"


def placement(plan: Plan) -> str:
    """Say which steps have one client and its server on a few processors, between which the kernel moves them."""
    processors = len(os.sched_getaffinity(0))
    if processors > FEW_PROCESSORS or processors < 2 or plan.hardware.get("declared"):
        return ""
    servers = {build.id for build in plan.builds if server_engine(build.engine)}
    steps = [step for stage in plan.stages if stage.build in servers for step in stage.steps if step.measured]
    counts = group(
        (step.name, 0 if step.setup.launch.cpus else client_count(step.kind, step.settings)) for step in steps
    )
    names = [name for name, clients in counts.items() if {*clients} == {1}]
    if not names:
        return ""
    text = f"{', '.join(first(names, MOST_NAMED))}: one client and its server on {processors} processors"
    return f"{text}, as the kernel places them: loads may differ several times over"


def build_tools(build: PlannedBuild) -> Iterator[str]:
    """List the programs of this machine that make a build."""
    from stepgrid.build.ready_programs import recipe_of
    from stepgrid.build.recipe import SourceRecipe

    recipe = recipe_of(build, engine(build.engine))
    yield from (SOURCE_TOOLS[key] for part in source_parts(build.source) for key in part if key in SOURCE_TOOLS)
    if recipe:
        yield from recipe.needed_tools(build) if isinstance(recipe, SourceRecipe) else recipe.tools


def build_downloads(build: PlannedBuild) -> Iterator[tuple[str, str]]:
    """List kind and name of what a build takes from the network, less Debian's headers."""
    from stepgrid.build.ready_programs import recipe_of
    from stepgrid.build.recipe import SourceRecipe

    yield from network_sources(build.source)
    recipe = recipe_of(build, engine(build.engine))
    if recipe:
        sources = recipe.needed_sources(build) if isinstance(recipe, SourceRecipe) else ()
        yield from (download for source in sources for download in network_sources(source))


def missing_clients(plan: Plan, store: Store, site: Site) -> Iterator[str]:
    """Say of the builds that are not made yet what this host lacks to fetch, compile or install them."""
    if (listed := names_with_libraries(plan, store)) and (lack := missing_client(site)):
        yield f"{_subject(listed)} cannot be made on this host, because {lack}"
    names, tools = list[str](), dict[str, None]()
    for build in (build for build in plan.builds if not store.has_build(build.id)):
        lacking = [tool for tool in build_tools(build) if not shutil.which(site.tool(tool))]
        names += [build.name] if lacking else []
        tools |= dict.fromkeys(lacking)
    if tools:
        packages = shlex.join(dict.fromkeys(PACKAGES.get(tool, tool) for tool in tools))
        lack = f"there is no {' and no '.join(site.tool(tool) for tool in tools)}"
        mend = f"`sudo apt install {packages}`, or name them under `tools:` in the site file"
        yield f"{_subject(names)} cannot be made on this host, because {lack}: {mend}"


def missing_client(site: Site) -> str:
    """Say what this host lacks to install libraries of scripts; empty where it lacks nothing."""
    from stepgrid.build.recipe import SourceWithClient, load_source  # much to import, and few builds have libraries

    source = load_source(REQUIREMENTS)
    return source.missing_client(site) if isinstance(source, SourceWithClient) else ""


def _subject(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"build {names[0]}"
    return f"build {names[0]} and {counted(len(names) - 1, 'other build')}"


def names_with_libraries(plan: Plan, store: Store) -> list[str]:
    """List builds that are not made yet and whose scripts have libraries."""
    builds = [build for build in plan.builds if any(REQUIREMENTS in part for part in source_parts(build.source))]
    return [build.name for build in builds if not store.has_build(build.id)]


class MissingTool(NamedTuple):
    """A program that a collector needs and this host lacks: steps are measured without it."""

    collector: str  # its name in the spec
    program: str
    package: str  # that brings it; empty where it is unknown


def missing_tools(stages: Iterable[PlannedStage], site: Site) -> Iterator[MissingTool]:
    """Look for the programs of collectors, each collector once; one of a build is looked for when that is made."""
    steps = (step for stage in stages for step in stage.steps)
    collectors: dict[str, Mapping[str, Any]] = {str(o["name"]): o for step in steps for o in step.setup.collectors}
    for name, options in collectors.items():
        if kind := options.get("collector"):
            collector = COLLECTORS.get(str(kind))
            program, package = site.tool(collector.tool), collector.package
        else:
            program, package = str(options["command"][0]), ""
        if (kind or "{" not in program) and not shutil.which(program):
            yield MissingTool(name, program, package)
