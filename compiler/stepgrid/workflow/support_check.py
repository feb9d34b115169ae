"""What a plan asks for that this version checks and plans but cannot run: said before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from stepgrid.language.sources import READY
from stepgrid.model.plan import PlannedBuild, PlannedStage, PlannedStep
from stepgrid.plugins import registry
from stepgrid.plugins.engine import DeclaredBuilds

MADE_ALREADY = ("debian", "system", "server")


def refusals(spec: str, builds: Iterable[PlannedBuild], stages: Iterable[PlannedStage]) -> list[str]:
    """A sentence for each kind of step, engine and kind of source; of builds and stages that are still to be made."""
    made_of, staged = list(builds), list(stages)
    kinds = (step.kind for stage in staged for step in stage.steps)
    said = [
        f"{spec}: this version checks and plans steps of kind {kind}; it cannot run them yet"
        for kind in registry.unrunnable_kinds(kinds)
    ]
    return [*said, *_engines(made_of), *_sources(made_of), *_recipes(made_of), *_probes(spec, made_of, staged)]


def of_builds(builds: Iterable[PlannedBuild]) -> list[str]:
    """Of builds that are only made: those of an engine that is not run yet are made all the same."""
    return list(_recipes(list(builds)))


def _engines(builds: list[PlannedBuild]) -> Iterator[str]:
    for engine in registry.unrunnable_engines(build.engine for build in builds):
        first = next(build for build in builds if build.engine == engine)
        yield f"{_place(first)}this version checks and plans the engine {engine}; it cannot run it yet"


def _sources(builds: list[PlannedBuild]) -> Iterator[str]:
    if not builds:
        return
    from stepgrid.build.recipe import ROUTES
    from stepgrid.language.sources import source_kind

    said = set(ROUTES)
    for build in builds:
        kind = source_kind(build.source)
        if kind is not None and kind not in said and registry.is_runnable(build.engine):
            said.add(kind)
            yield f"{_place(build)}this version checks and plans builds from {kind}; it cannot make them yet"


def _recipes(builds: list[PlannedBuild]) -> Iterator[str]:
    """Of sources that give binaries which are made already."""
    for build in builds:
        kind = next((kind for kind in MADE_ALREADY if kind in build.source), None)
        kept = ("patches", "flags") if kind == "debian" else ("patches", "flags", "extensions")  # packages bring some
        asked = [name for name in kept if build.recipe.get(name)]
        if kind and asked and not _only_choose(build, asked):
            names = " and ".join(f"`{name}`" for name in asked)
            advice = "leave them out, or build from source"
            yield f"{_place(build)}the binaries of `source: {kind}` are made already: no {names} for them; {advice}"


def _only_choose(build: PlannedBuild, asked: list[str]) -> bool:
    """Which of the programs that are made already are run."""
    found, flags = registry.engine(build.engine), build.recipe.get("flags")
    chosen = isinstance(found, DeclaredBuilds) and isinstance(flags, Mapping) and found.only_choose(flags)
    return chosen and asked == ["flags"] and any(kind in build.source for kind in READY)


def _probes(spec: str, builds: list[PlannedBuild], stages: list[PlannedStage]) -> Iterator[str]:
    names = {build.id: build.engine for build in builds}
    said: set[str] = set()
    for build, probe in ((s.build, probe) for s in stages for step in s.steps for probe in _probes_of(step)):
        engine = names.get(build)
        asked = next((key for key in ("sql", "counters") if key in probe), None)
        if engine and asked and probe["name"] not in said and not getattr(registry.engine(engine), "server", False):
            said.add(probe["name"])
            yield f"{spec}: probe `{probe['name']}` asks for `{asked}`, which needs a server; {engine} is none"


def _probes_of(step: PlannedStep) -> list[Mapping[str, Any]]:
    listed = (step.setup.get(when) or [] for when in ("before", "after"))
    return [probe for probes in listed for probe in cast(list[Mapping[str, Any]], probes)]


def _place(build: PlannedBuild) -> str:
    return f"{build.where}: " if build.where else ""
