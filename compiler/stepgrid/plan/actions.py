"""What becomes of each build and stage of a plan, from what is known of the store. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from stepgrid.model.plan import Plan, PlannedStage, runs_already

State: TypeAlias = Literal[
    "new", "failed", "redo", "replayed", "elsewhere", "unsupported", "cached", "shared", "orphaned"
]
NEW: State = "new"  # will run: it never did
FAILED: State = "failed"  # will be tried again
REDO: State = "redo"  # has a result, and is measured again beside it: asked for, or by `compare_within`
REPLAYED: State = "replayed"  # has a result, but what comes after it needs its database, and there is no image of it
ELSEWHERE: State = "elsewhere"  # another machine of the plan measures it
UNSUPPORTED: State = "unsupported"  # the binary lacks an option: recorded, not measured
CACHED: State = "cached"
SHARED: State = "shared"  # cached, and another spec measured it
ORPHANED: State = "orphaned"  # a result that this spec had and has no longer
STATES: tuple[State, ...] = (NEW, FAILED, REDO, REPLAYED, ELSEWHERE, UNSUPPORTED, CACHED, SHARED, ORPHANED)
RUNS = (NEW, FAILED, REDO)  # and leaves a result

Catalogues: TypeAlias = Mapping[str, Mapping[str, Any] | None]  # build -> its options; None: it cannot be told


@dataclass(frozen=True, slots=True)
class Known:
    """What the store says of a plan's nodes."""

    builds: Collection[str] = ()  # made
    results: Collection[str] = ()  # stages that have one
    unsupported: Mapping[str, str] = field(default_factory=dict)  # stage -> reason, of those with a result
    again: Mapping[str, str] = field(default_factory=dict)  # stage with a result -> why it is measured beside it
    retracted: Mapping[str, str] = field(default_factory=dict)  # stage whose last result was taken out -> why
    elsewhere: Mapping[str, str] = field(default_factory=dict)  # node -> the spec that made it, if it was another
    foreign: Mapping[str, str] = field(default_factory=dict)  # machine of the plan -> where this host differs from it
    failures: Mapping[str, str] = field(default_factory=dict)  # node -> what its newest attempt said
    images: Collection[str] = ()
    damaged: Mapping[str, str] = field(default_factory=dict)  # stage with an image that cannot be used -> why
    catalogues: Catalogues = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    state: State
    said: str = ""  # a sentence: why it failed, is unsupported, who measured it


def outcomes(plan: Plan, known: Known) -> dict[str, Outcome]:
    """Of every build and every stage."""
    found = {build.id: _build(build.id, known) for build in plan.builds}
    engines = {build.id: build.engine for build in plan.builds}
    stages = {stage.id: stage for stage in plan.stages}
    for stage in sorted(plan.stages, key=lambda stage: stage.rank):  # a parent ranks before its children
        above = found.get(stage.parent) if stage.parent else None
        found[stage.id] = _inherited(above) or _stage(stage, known, engines)
    for stage in plan.stages:
        for ancestor in _replayed(stage, stages, found, known):
            found[ancestor] = Outcome(REPLAYED, known.damaged.get(ancestor, "there is no image of its end state"))
    for node, count in again(plan, {node for node, outcome in found.items() if outcome.state in RUNS}).items():
        state, said = found[node].state, found[node].said
        why = f"run {_times(count)} for what starts from it: a running server has no images"
        found[node] = Outcome(state, why if state in (NEW, REPLAYED) else f"{said}; {why}")
    return found


def again(plan: Plan, running: Collection[str]) -> dict[str, int]:
    """Of servers that ran before: stages that are replayed -> how often, once for each stage after them that runs."""
    builds = {build.id for build in plan.builds if runs_already(build.source)}
    parents = {stage.id: stage.parent for stage in plan.stages if stage.build in builds}
    found: dict[str, int] = {}
    for stage in parents.keys() & set(running):
        parent = parents[stage]
        while parent is not None:
            found[parent] = found.get(parent, 0) + 1
            parent = parents[parent]
    return found


def _times(count: int) -> str:
    return "once more" if count == 1 else f"{count} times more"


def _build(build: str, known: Known) -> Outcome:
    if build in known.builds:
        return _there(build, known)
    return Outcome(FAILED, known.failures[build]) if build in known.failures else Outcome(NEW)


def _there(node: str, known: Known) -> Outcome:
    other = known.elsewhere.get(node)
    return Outcome(SHARED, f"made by {other}") if other else Outcome(CACHED)


def _inherited(above: Outcome | None) -> Outcome | None:
    return above if above is not None and above.state == UNSUPPORTED else None


def _stage(stage: PlannedStage, known: Known, engines: Mapping[str, str]) -> Outcome:
    if stage.id in known.again:
        return Outcome(REDO, known.again[stage.id])
    if stage.id in known.unsupported:
        return Outcome(UNSUPPORTED, known.unsupported[stage.id])
    if stage.id in known.results:
        return _there(stage.id, known)
    if stage.hardware in known.foreign:
        return Outcome(ELSEWHERE, f"needs {stage.hardware}: {known.foreign[stage.hardware]}")
    lacks = _lacking(stage, known.catalogues, engines)
    if lacks is not None:
        return Outcome(UNSUPPORTED, f"the build has no option {lacks}")
    if stage.id in known.failures:
        return Outcome(FAILED, known.failures[stage.id])
    return Outcome(NEW, known.retracted.get(stage.id, ""))


def _lacking(stage: PlannedStage, catalogues: Catalogues, engines: Mapping[str, str]) -> str | None:
    """An option that makes the cell unsupported: the stage's build lacks it, another has it or may have it."""
    own = catalogues.get(stage.build)
    if own is None:
        return None
    alike = engines.keys() & catalogues.keys() - {stage.build}
    others = [catalogues[build] for build in alike if engines[build] == engines[stage.build]]
    asked = (name for step in stage.steps for name, option in step.options.items() if option.unsupported == "cell")
    return next((n for n in asked if n not in own and any(o is None or n in o for o in others)), None)


def _replayed(
    stage: PlannedStage, stages: Mapping[str, PlannedStage], found: Mapping[str, Outcome], known: Known
) -> Iterator[str]:
    """The ancestors that must run again before a stage can: up to the nearest image."""
    if found[stage.id].state not in RUNS:
        return
    parent = stage.parent
    while parent is not None and found[parent].state in (CACHED, SHARED, REPLAYED) and not _has_image(parent, known):
        yield parent
        parent = stages[parent].parent


def _has_image(stage: str, known: Known) -> bool:
    return stage in known.images and stage not in known.damaged


def to_do(outcome: Outcome) -> bool:
    """Whether it runs, or runs again."""
    return outcome.state in (*RUNS, REPLAYED)
