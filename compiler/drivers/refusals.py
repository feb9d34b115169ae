"""What a plan asks for that this version checks and plans but cannot run: said before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler import drivers, engines
from compiler.plan.model import PlannedBuild, PlannedStage


def refusals(spec: str, builds: Iterable[PlannedBuild], stages: Iterable[PlannedStage]) -> list[str]:
    """A sentence for each kind of step, engine and kind of source; of builds and stages that are still to be made."""
    made_of = list(builds)
    kinds = (step.kind for stage in stages for step in stage.steps)
    said = [
        f"{spec}: this version checks and plans steps of kind {kind}; it cannot run them yet"
        for kind in drivers.unrunnable(kinds)
    ]
    return [*said, *_engines(made_of), *_sources(made_of)]


def _engines(builds: list[PlannedBuild]) -> Iterator[str]:
    for engine in engines.unrunnable(build.engine for build in builds):
        first = next(build for build in builds if build.engine == engine)
        yield f"{_place(first)}this version checks and plans the engine {engine}; it cannot run it yet"


def _sources(builds: list[PlannedBuild]) -> Iterator[str]:
    if not builds:
        return
    from compiler.build.declared import kind_of
    from compiler.build.sources import SOURCES

    said = set(SOURCES)
    for build in builds:
        kind = kind_of(build.source)
        if kind is not None and kind not in said and engines.runnable(build.engine) is not None:
            said.add(kind)
            yield f"{_place(build)}this version checks and plans builds from {kind}; it cannot make them yet"


def _place(build: PlannedBuild) -> str:
    return f"{build.where}: " if build.where else ""
