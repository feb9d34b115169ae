"""Cells to a tree of stages: what cells have in common is one stage. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from stepgrid.expand.evaluation import ResolvedStep, Segment
from stepgrid.expand.setup import Setup
from stepgrid.model.plan import CLIENT, Json, PlannedStep, Repeat, input_checksums, stage_label
from stepgrid.plan import identity
from stepgrid.plan.order import LoadCounts
from stepgrid.plan.seeds import Seeding, Seeds

Labels: TypeAlias = Mapping[str, str]


@dataclass(slots=True)
class Draft:
    """A stage while its cells are still being found."""

    id: str
    parent: str | None
    build: str
    hardware: str
    load: int
    run: int
    steps: tuple[PlannedStep, ...]
    seconds: float
    labels: Labels  # what its cells have in common
    children: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    build: str
    hardware: str
    own: str = ""  # the cell, where it shares nothing

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.build, self.hardware, self.own) if self.own else (self.build, self.hardware)


Choice: TypeAlias = Callable[[str, Sequence[str], Mapping[str, str]], str]  # today's id, earlier ones, the contents
GENERATIONS = (0, 1, 2, 3)  # of ids: today's; with what is read of output; without NAMED files; without any


def todays(node: str, earlier: Sequence[str], contents: Mapping[str, str]) -> str:
    return node


class Tree:
    """Grows by cells; a stage that is there already is shared.

    `choice`: of the ids of a stage the one under which its results lie.
    """

    def __init__(self, seed: int, loads: LoadCounts, runs: int, setups: Setups, choice: Choice = todays) -> None:
        self.drafts: dict[str, Draft] = {}
        self._choice = choice
        self._readings: dict[str, str] = {}  # what is read of the output, by id
        self.todays: dict[str, str] = {}  # the id that a stage would have today, where it has an earlier one
        self._seeding, self._loads, self._runs, self._setups = Seeding(seed), loads, runs, setups
        self._ids: dict[tuple[Root, str | None, Segment, Seeds, int, int], str] = {}

    def add(self, segments: Sequence[Segment], labels: Labels, root: Root) -> tuple[Repeat, ...]:
        """The stages of a cell in each repeat."""
        runs = self._runs if len(segments) > 1 else 1  # without a checkpoint there is nothing to fork
        loads = self._loads.of(lambda load: self._last(segments, root, load))
        indices = [(load, run) for load in range(loads) for run in range(runs)]
        return tuple([self._repeat(segments, labels, root, load, run) for load, run in indices])

    def _last(self, segments: Sequence[Segment], root: Root, load: int) -> str:
        """The id of a load's last stage, whether or not the load is planned."""
        node: str | None = None
        for position, (segment, seeds) in enumerate(zip(segments, self._seeding.of(segments, load, 0), strict=True)):
            node = self._id(root, node, segment, seeds, *_own(position, load, 0))
        return str(node)

    def _repeat(self, segments: Sequence[Segment], labels: Labels, root: Root, load: int, run: int) -> Repeat:
        chain: list[str] = []
        parent: Draft | None = None
        seeded = zip(segments, self._seeding.of(segments, load, run), strict=True)
        for position, (segment, seeds) in enumerate(seeded):
            above = None if parent is None else parent.id
            node = self._id(root, above, segment, seeds, *_own(position, load, run))
            draft = self.drafts.get(node)
            if draft is None:
                index = (load, run if position else 0)
                planned = tuple([self._planned(step, seed) for step, seed in zip(segment.steps, seeds, strict=True)])
                seconds = sum([step.settings.seconds for step in segment.steps])
                draft = self.drafts[node] = _draft(node, parent, root, planned, seconds, index, labels)
            else:
                draft.labels = {axis: label for axis, label in draft.labels.items() if labels.get(axis) == label}
            chain.append(node)
            parent = draft
        return Repeat(load, run, tuple(chain))

    def _id(self, root: Root, above: str | None, segment: Segment, seeds: Seeds, load: int, run: int) -> str:
        key = (root, above, segment, seeds, load, run)
        if key not in self._ids:
            contents = input_checksums([step.setup.values for step in segment.steps])
            clients = [self._setups.client(step.setup) for step in segment.steps]
            pairs = [*zip(segment.steps, clients, strict=True)]
            reading = "".join(step.settings.earlier_text for step in segment.steps if step.settings.is_read)
            today, *earlier = [
                identity.stage_id(
                    root.parts,
                    above,
                    zip([step.identity(client, generation) for step, client in pairs], seeds, strict=True),
                    load,
                    run,
                )
                for generation in (GENERATIONS if contents or reading else GENERATIONS[:1])
            ]
            if self._readings.setdefault(today, reading) != reading:  # the output cannot be read in two ways
                today, *earlier = earlier
            candidates = [node for node in dict.fromkeys(reversed(earlier)) if node != today]
            node = self._ids[key] = self._choice(today, candidates, contents) if contents or reading else today
            if node != today:
                self.todays[node] = today
        return self._ids[key]

    def _planned(self, step: ResolvedStep, seed: int) -> PlannedStep:
        head = step.head
        return PlannedStep(
            head.name, head.kind, head.revision, step.settings.values, step.options, seed, head.measured, head.mutates,
            self._setups.values(step.setup), step.setup.files,
        )  # fmt: skip


def title(draft: Draft, axes: Sequence[str]) -> str:
    """rocksdb-7.8.3 cache=lru threads=1, load 1: readww, overwrite"""
    labels = draft.labels
    shared = [labels.get("build", ""), *[f"{axis}={labels[axis]}" for axis in axes if axis in labels]]
    run = f", run {draft.run + 1}" if draft.run else ""
    steps = stage_label([step.name for step in draft.steps])
    place = " ".join(part for part in shared if part)
    return f"{f'{place}, ' if place else ''}load {draft.load + 1}{run}: {steps}"


def _own(position: int, load: int, run: int) -> tuple[int, int]:
    """What a stage's own id has of the indices: the parent's id has the rest."""
    return (load, 0) if position == 0 else (0, run if position == 1 else 0)


def _draft(
    node: str,
    parent: Draft | None,
    root: Root,
    steps: tuple[PlannedStep, ...],
    seconds: float,
    index: tuple[int, int],
    labels: Labels,
) -> Draft:
    above = None if parent is None else parent.id
    if parent is not None:
        parent.children.append(node)
    return Draft(node, above, root.build, root.hardware, *index, steps, seconds, labels)


# Steps' setups as a plan has them: a client is there by the id of its build.


class Setups:
    """`builds`: ids by the builds' names."""

    def __init__(self, builds: Mapping[str, str]) -> None:
        self._builds = builds
        self._known: dict[int, tuple[Setup, Mapping[str, Json]]] = {}  # with the setup: its id() stays its own

    def client(self, setup: Setup) -> str | None:
        return None if setup.client is None else self._builds[setup.client.name]

    def values(self, setup: Setup) -> Mapping[str, Json]:
        """One object for all steps that share the setup, which is written once."""
        if setup.client is None:
            return setup.values
        if id(setup) not in self._known:
            self._known[id(setup)] = setup, {**setup.values, CLIENT: self.client(setup)}
        return self._known[id(setup)][1]
