"""Programs that steps name, `{program:NAME}`, against those of the builds that are there. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from stepgrid.language.problems import Location, Problem, Problems, nearest
from stepgrid.model.plan import SERVICE, Plan, PlannedStep
from stepgrid.plugins.driver import named_programs

Programs: TypeAlias = Mapping[str, Collection[str] | None]  # build -> its programs; None: it cannot be told


def problems(plan: Plan, known: Programs) -> list[Problem]:
    """Each once, with the steps that name it."""
    found = Problems()
    builds = {build.id: build for build in plan.builds}
    for stage in plan.stages:
        there, build = known.get(stage.build), builds[stage.build]
        for step in stage.steps if there is not None else ():
            for name in _unknown(_asked(step), there):
                where, hint = _where(step, plan.spec), nearest(name, there or ())
                message = f"{build.name} has no program `{name}`"
                found.append(Problem("unknown-program", where, message, hint), step.name)
            for name in _unknown(_of_service(step), there):
                where, hint = Location.read(build.where), nearest(name, there or ())
                found.add("unknown-program", where, f"{build.name} has no program `{name}` for its service", hint)
    return found.items


def _unknown(asked: Iterable[str], there: Collection[str] | None) -> list[str]:
    return [name for name in asked if name not in (there or ())]


def _asked(step: PlannedStep) -> Iterator[str]:
    words = step.settings.get("argv")
    yield from named_programs([str(word) for word in words]) if isinstance(words, list) else ()


def _of_service(step: PlannedStep) -> Iterator[str]:
    found: Mapping[str, Any] = step.setup.get(SERVICE) or {}  # type: ignore[assignment]
    for said in (found, found.get("ready", {}), found.get("stop", {})):
        yield from named_programs([*said.get("argv", ()), *said.get("command", ())])


def _where(step: PlannedStep, spec: str) -> Location:
    """Known while the spec is being compiled."""
    at: Mapping[str, str] = getattr(step.settings, "at", {})
    return Location.read(at["argv"]) if "argv" in at else Location(spec, 1, 1)
