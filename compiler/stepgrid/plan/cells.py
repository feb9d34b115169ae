"""An expansion's cells as the plan has them: labels, where each step is measured, the stages of each repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from stepgrid.expand.axes import BUILD, Choice
from stepgrid.expand.cells import Cell
from stepgrid.expand.evaluation import Segment, StepHead
from stepgrid.model.plan import CellStep, Json, PlannedCell, flat
from stepgrid.plan import identity
from stepgrid.plan.stage_tree import Root, Tree

CELL_PREFIX = "c-"

Heads: TypeAlias = tuple[tuple[StepHead, ...], ...]


class Cells:
    """`builds`: ids by the builds' names; the tree grows by the stages of each cell."""

    def __init__(self, axes: Sequence[str], builds: Mapping[str, str], tree: Tree, share: bool) -> None:
        self._axes, self._builds, self._tree, self._share = axes, builds, tree, share
        self._roots: dict[tuple[str, int, str], Root] = {}
        self.machines: dict[str, Mapping[str, Json]] = {}
        self._steps: dict[Heads, tuple[CellStep, ...]] = {}

    def planned(self, cell: Cell) -> PlannedCell:
        labels = self._labels(cell.choice)
        node = CELL_PREFIX + identity.text_digest(flat(labels))
        root = self._root(cell, node)
        repeats = self._tree.add(cell.segments, labels, root)
        return PlannedCell(node, labels, root.build, self._steps_of(cell.segments), repeats)

    def _root(self, cell: Cell, node: str) -> Root:
        """One object for all cells that may share it: the tree tells roots apart by it."""
        key = (cell.choice.build.name, id(cell.hardware), "" if self._share else node)
        if key not in self._roots:
            machine = self._machine(cell)
            self._roots[key] = Root(self._builds[cell.choice.build.name], machine, key[2])
        return self._roots[key]

    def _machine(self, cell: Cell) -> str:
        """One host may stand in for several machines."""
        found = identity.machine(cell.hardware)
        name = str(found["id"])
        described = {**_described(self.machines.get(name, {})), **_described(found)}
        self.machines[name] = {**found, **({identity.DESCRIBED: described} if described else {})}
        return name

    def _labels(self, choice: Choice) -> dict[str, str]:
        labels = {BUILD: choice.build.name}
        for axis, point in zip(self._axes, choice.points, strict=True):
            if point is not None:
                labels[axis] = point.label
        return labels

    def _steps_of(self, segments: Sequence[Segment]) -> tuple[CellStep, ...]:
        """Cells with the same steps share them."""
        heads = tuple([tuple([step.head for step in segment.steps]) for segment in segments])
        if heads not in self._steps:
            self._steps[heads] = _steps(heads)
        return self._steps[heads]


def _described(machine: Mapping[str, Json]) -> Mapping[str, Json]:
    found = machine.get(identity.DESCRIBED)
    return found if isinstance(found, Mapping) else {}


def _steps(heads: Heads) -> tuple[CellStep, ...]:
    return tuple(
        CellStep(head.name, head.kind, stage, index, head.measured, head.step, head.variables)
        for stage, segment in enumerate(heads)
        for index, head in enumerate(segment)
    )
