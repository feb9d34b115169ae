"""Whether the ids of a plan are those of what it declares: a plan from elsewhere is not believed.

An id decides which results count for a spec. One that is not made of its stage would pass results of one load or build
off as those of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from stepgrid.expand import setup
from stepgrid.expand.options import identity_text, option_text
from stepgrid.model.plan import (
    CLIENT,
    FILES,
    INPUTS,
    NAMED,
    Json,
    Plan,
    PlannedBuild,
    PlannedStage,
    PlannedStep,
    encode,
)
from stepgrid.plan import identity
from stepgrid.plugins.registry import driver


def faults(plan: Plan) -> Iterator[str]:
    """A sentence for each id that is another one, with both."""
    for build in plan.builds:
        if build.id != (made := build_id(build)):
            yield f"the build {build.id} declares what has the id {made}"
    own = _owners(plan)
    positions = {stage: at for cell in plan.cells for each in cell.repeats for at, stage in enumerate(each.stages)}
    for stage in plan.stages:
        found = _ids(stage, positions.get(stage.id, 0), own.get(stage.id, ""))
        if stage.id not in found:
            yield f"the stage {stage.id} declares what has the id {found[0]}"
        yield from _wrong_files(stage)


def build_id(build: PlannedBuild) -> str:
    """Of patches the id has the contents, which are among its pins."""
    recipe = {name: value for name, value in build.recipe.items() if name != "patches"}
    return identity.build_id(build.engine, build.version, build.source, build.pin, recipe)


def _owners(plan: Plan) -> Mapping[str, str]:
    """Stage -> its cell, where cells share nothing."""
    if plan.share:
        return {}
    return {stage: cell.id for cell in plan.cells for repeat in cell.repeats for stage in repeat.stages}


def _ids(stage: PlannedStage, position: int, own: str) -> Sequence[str]:
    """With the contents of the files that its commands read, and as earlier ids were."""
    root = (stage.build, stage.hardware, *([own] if own else []))
    load, run = (stage.load, 0) if position == 0 else (0, stage.run if position == 1 else 0)
    generations = [((), False), ((), True), ((NAMED,), True), ((NAMED, INPUTS), True)]
    return [
        identity.stage_id(root, stage.parent, [(_step(step, *parts), step.seed) for step in stage.steps], load, run)
        for parts in generations
    ]


def _step(step: PlannedStep, omitted: Sequence[str], reading: bool) -> str:
    """As `ResolvedStep.identity` makes it of a spec's step; `omitted`: keys of a setup whose files have no part."""
    model = driver(step.kind).settings_model().model_validate(step.settings)
    texts = [f"{encode(name)}:{option_text(option)}" for name, option in sorted(step.options.items())]
    around = "".join(f",{part}" for part in (_setup(step, omitted), encode(step.client) if step.client else "") if part)
    settings = identity_text(step.kind, model, reading)
    return f"[{encode(step.kind)},{step.revision},{settings},{{{','.join(texts)}}}{around}]"


def _setup(step: PlannedStep, omitted: Sequence[str]) -> str:
    values: dict[str, Json] = {name: value for name, value in step.setup.items() if name != CLIENT}
    names = {name for key in omitted if isinstance(table := values.get(key), Mapping) for name in table}
    sums = values.get(FILES)
    if names and isinstance(sums, Mapping):
        rest: dict[str, Json] = {name: checksum for name, checksum in sums.items() if name not in names}
        values = {**values, FILES: rest} if rest else {name: each for name, each in values.items() if name != FILES}
    values = {name: value for name, value in values.items() if name not in (INPUTS, NAMED)}
    return setup.identity_text(values) if values else ""


def _wrong_files(stage: PlannedStage) -> Iterator[str]:
    """Of texts that a step brings along the id has the checksums."""
    for step in stage.steps:
        sums = step.setup.get(FILES)
        for name, text in step.files.items():
            if not isinstance(sums, Mapping) or sums.get(name) != sha256(text.encode()).hexdigest():
                yield f"the stage {stage.id} brings a file `{name}` that its checksum is not of"
