"""Cells to a tree of stages: what cells have in common is one stage. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.expand.cells import Cell
from compiler.expand.resolve import ResolvedStep
from compiler.plan import identity
from compiler.plan.model import CellStep, PlannedStep, Repeat


@dataclass(slots=True)
class Draft:
    """A stage while its cells are still being found."""

    id: str
    parent: str | None
    build: str
    load: int
    run: int
    steps: tuple[PlannedStep, ...]
    seconds: float
    labels: dict[str, str]  # what its cells have in common
    children: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Root:
    build: str
    hardware: str


class Tree:
    """Grows by cells; a stage that is there already is shared."""

    def __init__(self, seed: int, loads: int, runs: int) -> None:
        self.drafts: dict[str, Draft] = {}
        self._seed, self._loads, self._runs = seed, loads, runs

    def add(self, cell: Cell, root: Root) -> tuple[Repeat, ...]:
        return tuple(self._chain(cell, root, load, run) for load, run in self._indices(len(cell.segments)))

    def _indices(self, segments: int) -> Iterator[tuple[int, int]]:
        runs = self._runs if segments > 1 else 1  # without a checkpoint there is nothing to fork
        return ((load, run) for load in range(self._loads) for run in range(runs))

    def _chain(self, cell: Cell, root: Root, load: int, run: int) -> Repeat:
        done: Counter[str] = Counter()
        chain: list[str] = []
        parent: str | None = None
        for position, segment in enumerate(cell.segments):
            stage_load, stage_run = (load, 0) if position == 0 else (0, run if position == 1 else 0)
            own_run = run if position else 0
            seeded = [(step, self._step_seed(step, done, load, own_run)) for step in segment]
            ids = [(step.identity, seed) for step, seed in seeded]
            node = identity.stage_id((root.build, root.hardware), parent, ids, stage_load, stage_run)
            self._draft(node, parent, cell, root, (load, own_run), seeded)
            chain.append(node)
            parent = node
        return Repeat(load, run, tuple(chain))

    def _step_seed(self, step: ResolvedStep, done: Counter[str], load: int, run: int) -> int:
        key = f"{step.kind}/{step.seed_key}"
        done[key] += 1
        return identity.seed(self._seed, load, run, key, done[key] - 1)

    def _draft(
        self,
        node: str,
        parent: str | None,
        cell: Cell,
        root: Root,
        index: tuple[int, int],
        steps: Sequence[tuple[ResolvedStep, int]],
    ) -> None:
        found = self.drafts.get(node)
        if found is not None:
            found.labels = dict(found.labels.items() & cell.labels.items())
            return
        planned = tuple(_planned(step, seed) for step, seed in steps)
        seconds = sum(step.seconds for step, _ in steps)
        self.drafts[node] = Draft(node, parent, root.build, *index, planned, seconds, dict(cell.labels))
        if parent is not None:
            self.drafts[parent].children[node] = None


def cell_steps(cell: Cell) -> Iterable[CellStep]:
    for stage, segment in enumerate(cell.segments):
        for index, step in enumerate(segment):
            yield CellStep(step.name, step.kind, stage, index, step.measured)


def title(draft: Draft, axes: Sequence[str]) -> str:
    """rocksdb-7.8.3 cache=lru threads=1, load 1: readww, overwrite"""
    labels: Mapping[str, str] = draft.labels
    shared = [labels.get("build", ""), *(f"{axis}={labels[axis]}" for axis in axes if axis in labels)]
    run = f", run {draft.run + 1}" if draft.run else ""
    steps = ", ".join(step.name for step in draft.steps)
    return f"{' '.join(part for part in shared if part)}, load {draft.load + 1}{run}: {steps}"


def _planned(step: ResolvedStep, seed: int) -> PlannedStep:
    return PlannedStep(
        step.name, step.kind, _revision(step), step.settings, step.options, seed, step.measured, step.mutates
    )


def _revision(step: ResolvedStep) -> int:
    from compiler.drivers import driver

    return driver(step.kind).revision
