"""What was measured, as a plan: a stage per run, a cell per build and whatever else differs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from stepgrid.collect import step_figures
from stepgrid.model.plan import (
    IMPORT,
    STAGE_PREFIX,
    Axis,
    CellStep,
    Plan,
    PlannedBuild,
    PlannedCell,
    PlannedStage,
    PlannedStep,
    Repeat,
    Report,
    imported,
)
from stepgrid.plan import identity, plan_file
from stepgrid.plan.arms import BUILD
from stepgrid.plan.plan_file import DAMAGED, is_intact
from stepgrid.plugins.importer import ImportedStep
from stepgrid.store.store import Store

HARDWARE = {"id": "elsewhere"}


class Key(NamedTuple):
    build: str
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PublishedPlan:
    plan: Plan
    stages: Mapping[str, Sequence[ImportedStep]]  # id -> its steps; what a run lacks is planned, and not among them


def planned(
    kind: str, title: str, source: str, steps: Sequence[ImportedStep], warnings: Sequence[str] = ()
) -> PublishedPlan:
    """`source`: the folder, as it was given."""
    maker = _Maker(kind, steps)
    cells = tuple(maker.cell(key) for key in dict.fromkeys(map(_key, steps)))
    found = tuple(axes(steps))
    unnumbered = Plan(
        digest="",
        title=title,
        spec=f"{IMPORT} {kind} {source}",
        scale=None,
        axes=found,
        cells=cells,
        builds=tuple(sorted(maker.builds.values(), key=lambda build: build.id)),
        stages=tuple(sorted(maker.stages.values(), key=lambda stage: stage.id)),
        hardware=HARDWARE,
        report=Report({BUILD: found[0].labels[0]}),
        warnings=tuple(warnings),
    )
    return PublishedPlan(replace(unnumbered, digest=plan_file.digest(unnumbered)), maker.measured)


class _Maker:
    def __init__(self, kind: str, steps: Sequence[ImportedStep]) -> None:
        self.kind = kind
        self.builds: dict[str, PlannedBuild] = {}
        self.stages: dict[str, PlannedStage] = {}
        self.measured: dict[str, Sequence[ImportedStep]] = {}
        self._runs: dict[Key, dict[int, dict[str, ImportedStep]]] = {}
        for step in steps:
            self._runs.setdefault(_key(step), {}).setdefault(step.load, {})[_name(step)] = step
            self.builds.setdefault(step.build, _build(kind, step))

    def cell(self, key: Key) -> PlannedCell:
        """Where runs lack steps, each step has a stage of its own: one that is not there is missing."""
        loads = self._runs[key]
        steps = {name: step for run in loads.values() for name, step in run.items()}
        whole = all(run.keys() == steps.keys() for run in loads.values())
        blocks = [list(steps)] if whole else [[name] for name in steps]
        repeats = tuple(
            Repeat(load, 0, tuple(self._stage(key, load, block, loads[load]) for block in blocks))
            for load in sorted(loads)
        )
        node = "c-" + identity.digest([self.kind, *key])
        labels = {BUILD: key.build, **dict(key.labels)}
        return PlannedCell(node, labels, self.builds[key.build].id, tuple(self._placed(blocks, steps)), repeats)

    def _placed(self, blocks: Sequence[Sequence[str]], steps: Mapping[str, ImportedStep]) -> Iterator[CellStep]:
        for stage, block in enumerate(blocks):
            for index, name in enumerate(block):
                step = steps[name]
                yield CellStep(name, self.kind, stage, index, True, step.step, step.variables)

    def _stage(self, key: Key, load: int, block: Sequence[str], run: Mapping[str, ImportedStep]) -> str:
        found = [run[name] for name in block if name in run]
        content = [[step_figures.stated_body(step), [_digest(path) for path in step.files]] for step in found]
        node = STAGE_PREFIX + identity.digest([self.kind, *key, load, list(block), content])
        self.stages[node] = PlannedStage(
            id=node,
            title=f"{_title(key)}, load {load + 1}: {', '.join(block)}",
            build=self.builds[key.build].id,
            parent=None,
            children=(),
            load=load,
            run=0,
            hardware=str(HARDWARE["id"]),
            steps=tuple(PlannedStep(name, self.kind, 0, {}, {}, 0) for name in block),
            seconds=sum(step.seconds or 0.0 for step in found),
            rank=len(self.stages),
        )
        if found:
            self.measured[node] = found
        return node


def several(steps: Iterable[ImportedStep]) -> list[str]:
    """What there is more than one of, and so would be lost."""
    found = Counter((f"{_title(_key(step))}, load {step.load + 1}", _name(step)) for step in steps)
    return [f"{name} of {title}" for (title, name), count in found.items() if count > 1]


def _title(key: Key) -> str:
    return " ".join([key.build, *(f"{axis}={label}" for axis, label in key.labels)])


def _name(step: ImportedStep) -> str:
    return " ".join([step.step, *(f"{name}={value}" for name, value in step.variables.items())])


def _key(step: ImportedStep) -> Key:
    return Key(step.build, tuple(sorted(step.labels.items())))


def _build(kind: str, step: ImportedStep) -> PlannedBuild:
    source = {"published": step.build}
    node = identity.build_id(kind, step.version, source, "")
    return PlannedBuild(node, step.build, kind, step.version, source)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# The axes of what was measured: builds, what differs beside them, what was tried on one database.


def axes(steps: Sequence[ImportedStep]) -> Iterator[Axis]:
    yield Axis(BUILD, tuple(dict.fromkeys(step.build for step in steps)))
    for name in dict.fromkeys(name for step in steps for name in step.labels):
        yield Axis(name, _ordered(step.labels[name] for step in steps if name in step.labels))
    for name in dict.fromkeys(name for step in steps for name in step.variables):
        having = [step for step in steps if name in step.variables]
        changed = tuple(dict.fromkeys(step.step for step in having))
        yield Axis(name, _ordered(step.variables[name] for step in having), changed)


def _ordered(labels: Iterable[str]) -> tuple[str, ...]:
    """Numbers as such, others as they come."""
    found = tuple(dict.fromkeys(labels))
    return tuple(sorted(found, key=int)) if all(label.isdecimal() for label in found) else found


# Plans of results that were imported from published scripts: no spec comes to them, and they stay.


def named(store: Store, digest: str) -> Plan | None:
    """None where there is no such plan, or a spec comes to it."""
    folder = store.plan(digest)
    if not is_intact(folder):
        return None
    try:
        return plan_file.read(folder) if imported(plan_file.read_header(folder)["spec"]) else None
    except DAMAGED:
        return None


def brought(store: Store, digest: str) -> Plan | None:
    """One that came with results of another checkout, which its own spec may not come to here."""
    if not store.texts(digest).is_dir() or not is_intact(store.plan(digest)):
        return None
    try:
        return plan_file.read(store.plan(digest))
    except DAMAGED:
        return None
