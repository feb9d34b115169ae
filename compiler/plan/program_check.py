"""Programs that steps name, `{program:NAME}`, against those of the builds that are there. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from compiler.drivers.command.words import programs
from compiler.language.problem import Problem, Problems, Where, nearest
from compiler.plan.model import Plan, PlannedStep

Programs: TypeAlias = Mapping[str, Collection[str] | None]  # build -> its programs; None: it cannot be told


def problems(plan: Plan, known: Programs) -> list[Problem]:
    """Each once, with the steps that name it."""
    found = Problems()
    names = {build.id: build.name for build in plan.builds}
    for stage in plan.stages:
        there = known.get(stage.build)
        for step in stage.steps if there is not None else ():
            for name in _asked(step):
                if name not in (there or ()):
                    message = f"{names[stage.build]} has no program `{name}`"
                    where, hint = _where(step, plan.spec), nearest(name, there or ())
                    found.add("unknown-program", where, message, hint, step=step.name)
    return found.found


def _asked(step: PlannedStep) -> Iterator[str]:
    words = step.settings.get("argv")
    yield from programs([str(word) for word in words]) if isinstance(words, list) else ()


def _where(step: PlannedStep, spec: str) -> Where:
    """Known while the spec is being compiled."""
    at: Mapping[str, str] = getattr(step.settings, "at", {})
    return Where.read(at["argv"]) if "argv" in at else Where(spec, 1, 1)
