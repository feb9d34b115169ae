"""A plan against what the builds that are there say of themselves: faults that would show when a stage runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.host import files
from stepgrid.language.problems import Problem
from stepgrid.model.plan import Plan, PlannedBuild
from stepgrid.plan.checks import option_check, program_check
from stepgrid.plugins.engine import Checking, DeclaredBuilds, KnownOptions
from stepgrid.plugins.registry import engine
from stepgrid.store.builds import catalogue, ids, record
from stepgrid.store.status.results import Results
from stepgrid.store.store import Store


def problems(plan: Plan, store: Store) -> Sequence[Problem]:
    """Nothing of a stage that is measured: its binary has taken what it asks for."""
    catalogues = {build.id: catalogue(store, build.id) for build in plan.builds}

    def measured() -> set[str]:
        results = Results(store, store.last_look(plan.digest))
        return {stage.id for stage in plan.stages if (found := results.of(stage)) and found.status == "done"}

    unmade = {build.engine for build in plan.builds if catalogues[build.id] is None}
    releases = {name: _options_of_releases(name, store) for name in sorted(unmade)}
    wrong = option_check.problems(plan, catalogues, measured, releases)
    return [*wrong, *program_check.problems(plan, {build.id: _programs(store, build) for build in plan.builds})]


def unchecked(plan: Plan, store: Store) -> list[PlannedBuild]:
    """Builds that are not made yet, and whose options can be checked when they are."""
    asking = {stage.build for stage in plan.stages if any(step.options for step in stage.steps)}
    checkable = [build for build in plan.builds if build.id in asking and isinstance(engine(build.engine), Checking)]
    return [build for build in checkable if not record(store, build.id)]


def _options_of_releases(name: str, store: Store) -> Mapping[str, Any]:
    """Options of an engine that are known without its build: those that come with it, and those of builds made here."""
    kind = engine(name)
    options: dict[str, Any] = {}
    if isinstance(kind, KnownOptions):
        options = {option: {"type": type_} for option, type_ in files.read_json(kind.known_options).items()}
    for build in ids(store):
        if record(store, build).get("engine") == name:
            options.update(catalogue(store, build) or {})
    return options


def _programs(store: Store, build: PlannedBuild) -> Collection[str] | None:
    """Of a build that is not made, those that it declares."""
    found = record(store, build.id).get("programs")
    return found if isinstance(found, dict) else _declared(build)


def _declared(build: PlannedBuild) -> Collection[str] | None:
    found = engine(build.engine)
    if not isinstance(found, DeclaredBuilds):
        return None
    own = found.program_paths(build.recipe)
    return own or ([Path(str(build.source["system"])).name] if "system" in build.source else None)
