"""What was measured, as a plan: a stage per step of a run, a cell per build and whatever else differs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from compiler.legacy import stated
from compiler.legacy.protocol import Measured
from compiler.plan import files, identity
from compiler.plan.model import (
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
)

BUILD = "build"
HARDWARE = {"id": "elsewhere"}
SPEC = "import"  # how the `spec` of such a plan begins


class Key(NamedTuple):
    build: str
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Planned:
    plan: Plan
    stages: Mapping[str, Measured]  # id -> what it holds; a step that a run lacks is planned, and not among them


def planned(kind: str, title: str, source: str, steps: Sequence[Measured]) -> Planned:
    """`source`: the folder, as it was given."""
    maker = _Maker(kind, steps)
    cells = tuple(maker.cell(key) for key in dict.fromkeys(map(_key, steps)))
    axes = tuple(_axes(steps))
    unnumbered = Plan(
        digest="",
        title=title,
        spec=f"{SPEC} {kind} {source}",
        scale=None,
        axes=axes,
        cells=cells,
        builds=tuple(sorted(maker.builds.values(), key=lambda build: build.id)),
        stages=tuple(sorted(maker.stages.values(), key=lambda stage: stage.id)),
        hardware=HARDWARE,
        report=Report({BUILD: axes[0].labels[0]}),
    )
    return Planned(replace(unnumbered, digest=files.digest(unnumbered)), maker.measured)


def imported(plan_spec: str) -> bool:
    """Whether a plan is of results that were imported: no spec comes to it."""
    return plan_spec.startswith(f"{SPEC} ")


class _Maker:
    def __init__(self, kind: str, steps: Sequence[Measured]) -> None:
        self.kind = kind
        self.builds: dict[str, PlannedBuild] = {}
        self.stages: dict[str, PlannedStage] = {}
        self.measured: dict[str, Measured] = {}
        self._steps: dict[Key, dict[int, dict[str, Measured]]] = {}
        for step in steps:
            self._steps.setdefault(_key(step), {}).setdefault(step.load, {})[step.step] = step
            self.builds.setdefault(step.build, _build(kind, step))

    def cell(self, key: Key) -> PlannedCell:
        loads = self._steps[key]
        names = list(dict.fromkeys(name for steps in loads.values() for name in steps))
        repeats = tuple(
            Repeat(load, 0, tuple(self._stage(key, load, name, loads[load].get(name)) for name in names))
            for load in sorted(loads)
        )
        steps = tuple(CellStep(name, self.kind, index, 0, True) for index, name in enumerate(names))
        node = "c-" + identity.digest([self.kind, *key])
        return PlannedCell(node, {BUILD: key.build, **dict(key.labels)}, self.builds[key.build].id, steps, repeats)

    def _stage(self, key: Key, load: int, name: str, found: Measured | None) -> str:
        content = [stated.body(found), [_digest(path) for path in found.files]] if found else None
        node = STAGE_PREFIX + identity.digest([self.kind, *key, load, name, content])
        title = " ".join([key.build, *(f"{axis}={label}" for axis, label in key.labels)])
        self.stages[node] = PlannedStage(
            id=node,
            title=f"{title}, load {load}: {name}",
            build=self.builds[key.build].id,
            parent=None,
            children=(),
            load=load,
            run=0,
            hardware=str(HARDWARE["id"]),
            steps=(PlannedStep(name, self.kind, 0, {}, {}, 0),),
            seconds=(found.seconds if found else None) or 0.0,
            rank=len(self.stages),
        )
        if found:
            self.measured[node] = found
        return node


def _key(step: Measured) -> Key:
    return Key(step.build, tuple(sorted(step.labels.items())))


def _build(kind: str, step: Measured) -> PlannedBuild:
    source = {"published": step.build}
    node = identity.build_id(kind, step.version, source, "")
    return PlannedBuild(node, step.build, kind, step.version, source)


def _axes(steps: Iterable[Measured]) -> Iterable[Axis]:
    """The builds, then what differs beside them."""
    labels: dict[str, dict[str, None]] = {BUILD: {}}
    for step in steps:
        for name, label in {BUILD: step.build, **step.labels}.items():
            labels.setdefault(name, {})[label] = None
    return (Axis(name, tuple(found)) for name, found in labels.items())


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
