"""A plan against what the builds that are there say of themselves: faults that would show when a stage runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from stepgrid.language.problems.problem import Problem
from stepgrid.model.plan import Plan, PlannedBuild
from stepgrid.plan.checks import option_check, program_check
from stepgrid.plugins.engine import DeclaredBuilds
from stepgrid.plugins.engines import engine
from stepgrid.store.builds import catalogue, record
from stepgrid.store.status.results import Results
from stepgrid.store.store import Store


def problems(plan: Plan, store: Store) -> Sequence[Problem]:
    """Nothing of a stage that is measured: its binary has taken what it asks for."""
    catalogues = {build.id: catalogue(store, build.id) for build in plan.builds}

    def measured() -> set[str]:
        results = Results(store, store.looked(plan.digest))
        return {stage.id for stage in plan.stages if (found := results.of(stage)) and found.status == "done"}

    wrong = option_check.problems(plan, catalogues, measured)
    return [*wrong, *program_check.problems(plan, {build.id: _programs(store, build) for build in plan.builds})]


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
