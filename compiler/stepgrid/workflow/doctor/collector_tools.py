"""Programs that a plan's collectors need and this machine lacks: nothing fails by it, so it is told before a run."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from stepgrid.host.host_check import WARNING, Finding
from stepgrid.model.plan import PlannedStage
from stepgrid.model.site import Site
from stepgrid.plugins.registry import COLLECTORS


class MissingTool(NamedTuple):
    collector: str  # its name in the spec
    tool: str
    package: str  # that brings it; empty where nobody knows


def lacking(stages: Iterable[PlannedStage], site: Site) -> list[MissingTool]:
    """Each collector once."""
    asked = {str(each["name"]): each for stage in stages for step in stage.steps for each in _asked(step.setup)}
    needed = (_needed(name, each, site) for name, each in asked.items())
    return [each for each in needed if each and not shutil.which(each.tool)]


def sentences(stages: Iterable[PlannedStage], site: Site) -> Iterator[str]:
    for each in lacking(stages, site):
        advice = f"; install {each.package}" if each.package else ""
        yield f"collector {each.collector}: there is no {each.tool} here, its steps are measured without it{advice}"


def findings(stages: Iterable[PlannedStage], site: Site) -> Iterator[Finding]:
    for each in lacking(stages, site):
        mend = f"sudo apt install {each.package}, or `tools:` of a site file" if each.package else ""
        yield Finding(each.tool, WARNING, f"not here; for the collector {each.collector}", None, "on PATH", mend)


def _asked(setup: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return cast(Sequence[Mapping[str, Any]], setup.get("collectors") or ())


def _needed(name: str, asked: Mapping[str, Any], site: Site) -> MissingTool | None:
    """A program of the build is known when the build is made."""
    if (kind := asked.get("collector")) is not None:
        found = COLLECTORS.get(str(kind))
        return MissingTool(name, site.tool(found.tool), found.package)
    program = str(asked["command"][0])
    return None if "{" in program else MissingTool(name, program, "")
