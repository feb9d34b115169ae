"""Stages of cells: what cells have in common is one stage, under the id of what it does; and checks of ids. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

from msgspec import Struct

from stepgrid.expand.cells import Cell
from stepgrid.expand.evaluation import ResolvedStep, Segment, StepHead
from stepgrid.expand.setup import ResolvedSetup
from stepgrid.language.models import Profile, Spec
from stepgrid.model.plan import (
    ALL,
    BUILD,
    CHANGED,
    CellStep,
    Json,
    Plan,
    PlannedCell,
    PlannedRepeat,
    PlannedStage,
    PlannedStep,
    encode,
    inner_map,
    stage_label,
)
from stepgrid.model.records import StepSetup, replace
from stepgrid.plan import identity
from stepgrid.plan.order import LoadCounts, ranks
from stepgrid.plugins.collector import FUNCTIONS
from stepgrid.plugins.registry import driver

CELL_PREFIX = "c-"

Labels: TypeAlias = Mapping[str, str]
Seeds: TypeAlias = tuple[int, ...]  # of the steps of a segment
_Roots: TypeAlias = "tuple[_Root, ...]"  # one for each link of a build: load after load takes the next
_Key: TypeAlias = "tuple[_Root, str | None, Segment, Seeds, int, int]"  # root, parent, steps, seeds, load, run


class Draft(Struct):
    """A stage while its cells are still being added."""

    id: str
    parent: str | None
    build: str
    hardware: str
    load: int
    run: int
    steps: tuple[PlannedStep, ...]
    seconds: float
    labels: Labels  # that its cells have in common
    children: list[str] = []
    is_profile: bool = False
    origin: str = ""

    def title(self, axes: Sequence[str]) -> str:
        """rocksdb-7.8.3 cache=lru threads=1, load 1: readww, overwrite"""
        prefix = "profile of " if self.is_profile else ""
        labels = [self.labels.get(BUILD, ""), *[f"{axis}={self.labels[axis]}" for axis in axes if axis in self.labels]]
        common = " ".join(label for label in labels if label)
        run = f", run {self.run + 1}" if self.run else ""
        owner = f" of {self.origin}" if self.origin else ""
        steps = stage_label([step.name for step in self.steps])
        return f"{prefix}{f'{common}, ' if common else ''}load {self.load + 1}{owner}{run}: {steps}"


class _Root(Struct, frozen=True, eq=False):
    """An origin of stages: one object for all cells that may share them."""

    build: str
    hardware: str
    cell: str = ""  # where cells share nothing
    origin: str = ""  # the host of further loads

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.build, self.hardware, *filter(None, (self.cell, self.origin)))


class StageTree:
    """A tree that grows by cells; a stage that it has already is shared.

    `axes`: names, in the order of a cell's points; `builds`: ids of the links of a build, by its name."""

    def __init__(
        self,
        spec: Spec,
        axes: Sequence[str],
        builds: Mapping[str, Sequence[str]],
        loads: LoadCounts,
    ) -> None:
        self.drafts: dict[str, Draft] = {}
        self.machines: dict[str, Mapping[str, Json]] = {}
        self.profiles: dict[str, str] = {}  # a measured stage -> the one that profiles it
        self._spec, self._axes, self._builds, self._loads = spec, axes, builds, loads
        self._roots: dict[tuple[str, int, str, str], _Roots] = {}
        self._ids: dict[_Key, str] = {}
        self._texts: dict[ResolvedStep, tuple[str, str]] = {}  # that identify a step
        self._setups: dict[tuple[int, str], StepSetup] = {}  # with the client's build
        self._readings: dict[str, str] = {}  # what is read of the output, by id
        self._seeds: dict[tuple[int, int, tuple[tuple[str, ...], ...]], list[Seeds]] = {}
        self._steps: dict[tuple[tuple[StepHead, ...], ...], tuple[CellStep, ...]] = {}

    def add(self, cell: Cell) -> PlannedCell:
        """Plan the stages of a cell in each repeat."""
        labels = {BUILD: cell.choice.build.name}
        labels |= {
            axis: point.label for axis, point in zip(self._axes, cell.choice.points, strict=True) if point is not None
        }
        node = CELL_PREFIX + identity.text_digest(encode(labels))
        roots, segments = self._link_roots(cell, node), cell.segments
        runs = self._spec.repeat.runs if len(segments) > 1 else 1  # without a checkpoint nothing can fork
        loads = self._loads.of(lambda load: [stage for stage, _ in self._chain(segments, roots, load, 0)][-1])
        indices = [(load, run) for load in range(loads) for run in range(runs)]
        repeats = tuple([self._repeat(segments, labels, roots, load, run) for load, run in indices])
        if self._spec.profile is not None and repeats:
            self._profile(self._spec.profile, segments, labels, roots, repeats)
        return PlannedCell(node, labels, roots[0].build, self._cell_steps(segments), repeats)

    def add_others(self, cells: Sequence[Cell], planned: Sequence[PlannedCell]) -> tuple[PlannedCell, ...]:
        """Add loads that other hosts measured, behind those of this one; such a load has one number in all cells.

        They have ids of their own, and only those with all of their results count: none is measured here."""
        repeats = [list(self._other_repeats(*pair)) for pair in zip(cells, planned, strict=True)]
        first = max((repeat.load + 1 for cell in planned for repeat in cell.repeats), default=0)
        keys = sorted({key for several in repeats for key, _ in several})
        numbers = {key: number for number, key in enumerate(keys, first)}
        return tuple([
            replace(cell, repeats=(*cell.repeats, *(replace(repeat, load=numbers[key]) for key, repeat in several)))
            if several else cell
            for cell, several in zip(planned, repeats, strict=True)
        ])  # fmt: skip

    def _other_repeats(self, cell: Cell, planned: PlannedCell) -> Iterator[tuple[tuple[str, int], PlannedRepeat]]:
        records = self._loads.records
        host_loads = records.imported(planned.repeats[0].stages[-1]) if planned.repeats else ()
        for origin, load in sorted(host_loads):
            roots = self._link_roots(cell, planned.id, origin)
            for run in sorted({repeat.run for repeat in planned.repeats}):
                chain = [node for node, _ in self._chain(cell.segments, roots, load, run)]
                if all(map(records.measured, chain)):
                    yield (origin, load), self._repeat(cell.segments, planned.labels, roots, load, run)

    def stages(self) -> tuple[PlannedStage, ...]:
        drafts = list(self.drafts.values())
        measured, profiling = ([draft for draft in drafts if draft.is_profile == is_last] for is_last in (False, True))
        rank = ranks(measured, self._spec.order, self._spec.seed)
        last = ranks(profiling, self._spec.order, self._spec.seed)  # they would disturb what is measured
        rank |= {stage: len(measured) + position for stage, position in last.items()}
        planned = (
            PlannedStage(
                id=draft.id,
                title=draft.title(self._axes),
                build=draft.build,
                parent=draft.parent,
                children=tuple(sorted(draft.children)),
                load=draft.load,
                run=draft.run,
                hardware=draft.hardware,
                steps=draft.steps,
                seconds=draft.seconds,
                rank=rank[draft.id],
                origin=draft.origin,
            )
            for draft in drafts
        )
        return tuple(sorted(planned, key=lambda stage: stage.id))

    def _profile(
        self,
        profile: Profile,
        segments: Sequence[Segment],
        labels: Labels,
        roots: _Roots,
        repeats: Sequence[PlannedRepeat],
    ) -> None:
        """Add stages that do the same again, from the same images, under a profiler: one for each load."""
        names = set(map(str, profile.where))
        if CHANGED in names or not names:
            names |= {*self._loads.records.profiled(repeats[0].stages[-1])}
        for repeat in repeats:
            for node, key in self._chain(segments, roots, repeat.load, repeat.run) if not repeat.run else ():
                steps = tuple([_under_profiler(step, profile, names) for step in key[2].steps])
                if node not in self.profiles and steps != key[2].steps:
                    observed = (*key[:2], Segment(steps, key[2].seed_keys, key[2].expects), *key[3:])
                    stage = self.profiles[node] = self._identify(observed)
                    self._add_draft(stage, observed, labels, (repeat.load, 0))
                    self.drafts[stage].is_profile = True

    def _link_roots(self, cell: Cell, node: str, origin: str = "") -> _Roots:
        key = (cell.choice.build.name, id(cell.hardware), "" if self._spec.share else node, origin)
        if key not in self._roots:
            machine = identity.machine(cell.hardware)
            name = str(machine["id"])
            # one host may stand in for several machines
            machines = self.machines.get(name, {}), machine
            described = {key: facts for one in machines for key, facts in inner_map(one, identity.DESCRIBED).items()}
            self.machines[name] = {**machine, **({identity.DESCRIBED: described} if described else {})}
            builds = self._builds[cell.choice.build.name]
            self._roots[key] = tuple([_Root(build, name, key[2], origin) for build in builds])
        return self._roots[key]

    def _cell_steps(self, segments: Sequence[Segment]) -> tuple[CellStep, ...]:
        """List the steps of a cell; cells with the same steps share them."""
        heads = tuple([tuple([step.head for step in segment.steps]) for segment in segments])
        if heads not in self._steps:
            self._steps[heads] = tuple(
                CellStep(
                    head.name,
                    head.kind,
                    stage,
                    index,
                    head.measured,
                    head.step,
                    head.variables,
                    head.expects,
                    segments[stage].expects if index + 1 == len(segment) else (),
                )
                for stage, segment in enumerate(heads)
                for index, head in enumerate(segment)
            )
        return self._steps[heads]

    def _repeat(self, segments: Sequence[Segment], labels: Labels, roots: _Roots, load: int, run: int) -> PlannedRepeat:
        chain: list[str] = []
        for node, key in self._chain(segments, roots, load, run):
            draft = self.drafts.get(node)
            if draft is None:
                self._add_draft(node, key, labels, (load, run if chain else 0))
            else:
                draft.labels = {axis: label for axis, label in draft.labels.items() if labels.get(axis) == label}
            chain.append(node)
        return PlannedRepeat(load, run, tuple(chain), roots[0].origin)

    def _chain(self, segments: Sequence[Segment], roots: _Roots, load: int, run: int) -> Iterator[tuple[str, _Key]]:
        """Yield the stages of a repeat, whether or not it is planned."""
        root = roots[load % len(roots)]
        parent: str | None = None
        seeded = zip(segments, self._segment_seeds(segments, load, run), strict=True)
        for position, (segment, seeds) in enumerate(seeded):
            key = (root, parent, segment, seeds, *_indices(position, load, run))
            parent = self._ids.get(key) or self._identify(key)
            yield parent, key

    def _segment_seeds(self, segments: Sequence[Segment], load: int, run: int) -> list[Seeds]:
        """Derive the seeds of each segment, by repeat, what steps do, and how often they have done it before."""
        key = (load, run, tuple([segment.seed_keys for segment in segments]))
        if key not in self._seeds:
            occurrences: Counter[str] = Counter()
            self._seeds[key] = []
            for position, kinds in enumerate(key[2]):
                seeds = []
                for kind in kinds:
                    index = run if position else 0
                    seeds.append(identity.seed(self._spec.seed, load, index, kind, occurrences[kind]))
                    occurrences[kind] += 1
                self._seeds[key].append(tuple(seeds))
        return self._seeds[key]

    def _identify(self, key: _Key) -> str:
        """Compute the id of a stage. What is read of the output is in it where that is read in two ways."""
        root, parent, segment, seeds, load, run = key
        texts = [self._step_texts(step) for step in segment.steps]
        readings = "".join(full_text for text, full_text in texts if text != full_text)

        def identify(with_reading: bool) -> str:
            steps = zip([pair[with_reading] for pair in texts], seeds, strict=True)
            return identity.stage_id(root.parts, parent, steps, load, run)

        node = identify(False)
        if self._readings.setdefault(node, readings) != readings:
            node = identify(True)
        self._ids[key] = node
        return node

    def _step_texts(self, step: ResolvedStep) -> tuple[str, str]:
        if step not in self._texts:
            self._texts[step] = identity.step_texts(self._planned_step(step, 0), step.settings.model)
        return self._texts[step]

    def _add_draft(self, node: str, key: _Key, labels: Labels, index: tuple[int, int]) -> None:
        root, parent, segment, seeds, _, _ = key
        steps = tuple([self._planned_step(step, seed) for step, seed in zip(segment.steps, seeds, strict=True)])
        seconds = sum([step.settings.seconds for step in segment.steps if not step.setup.values.timing])
        if parent is not None:
            self.drafts[parent].children.append(node)
        self.drafts[node] = Draft(node, parent, root.build, root.hardware, *index, steps, seconds, labels)
        self.drafts[node].origin = root.origin

    def _planned_step(self, step: ResolvedStep, seed: int) -> PlannedStep:
        head = step.head
        return PlannedStep(
            head.name, head.kind, head.revision, step.settings.values, step.options, seed, head.measured, head.mutates,
            self._setup_values(step.setup), step.setup.files,
        )  # fmt: skip

    def _setup_values(self, setup: ResolvedSetup) -> StepSetup:
        if setup.client is None:
            return setup.values
        key = (id(setup.values), setup.client.name)
        if key not in self._setups:
            self._setups[key] = replace(setup.values, client=self._builds[setup.client.name][0])
        return self._setups[key]


RAMP = 0.25  # of a step that is shorter than the time between two windows


def _under_profiler(step: ResolvedStep, profile: Profile, names: Collection[str]) -> ResolvedStep:
    """Return the step with a profiler, or the step itself where it is not to be profiled."""
    head = step.head
    if not head.measured or not {ALL, head.name, head.step or head.name} & {*names}:
        return step
    ramp = max(profile.period - profile.length, 0.0)
    after = min(ramp, RAMP * step.settings.seconds)
    windows: dict[str, Json] = {"for": profile.length, "every": max(profile.period, profile.length), "after": after}
    rate: dict[str, Json] = {"frequency": profile.frequency}
    unwinding: dict[str, Json] = {"call_graph": profile.call_graph} if profile.call_graph else {}
    events: list[Json] = [",".join(map(str, group)) for group in profile.groups]
    counting: dict[str, Json] = {"groups": events} if events else {}
    collector: dict[str, Json] = {"name": "profile", "collector": FUNCTIONS, **windows, **rate, **unwinding, **counting}
    return replace(step, setup=step.setup.observed(collector))


def _indices(position: int, load: int, run: int) -> tuple[int, int]:
    """Pick the indices that a stage's own id has: its parent's id has the rest."""
    return (load, 0) if position == 0 else (0, run if position == 1 else 0)


# Verification: a plan from elsewhere is not believed. An id decides which results count for a spec; one that is not
# made of its stage would pass results of one load or build off as those of another.


def id_faults(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each id of a plan that does not identify what it declares, with both ids."""
    for build in plan.builds:
        recipe = {name: value for name, value in build.recipe.items() if name != "patches"}  # pins have their contents
        declared = identity.build_id(build.engine, build.version, build.source, build.pin, recipe)
        if build.id != declared:
            yield f"the build {build.id} declares what has the id {declared}"
    positions, origins = stage_places(plan), {stage.id: stage.origin for stage in plan.stages}
    for stage in plan.stages:
        ids = _possible_ids(stage, *positions.get(stage.id, (0, "")))
        if stage.id not in ids:
            yield f"the stage {stage.id} declares what has the id {ids[0]}"
        if stage.parent is not None and origins.get(stage.parent, stage.origin) != stage.origin:
            yield f"the stage {stage.id} is of another host than the one that it starts from"
        for step in stage.steps:
            for name, text in step.files.items():
                if step.setup.files.get(name) != sha256(text.encode()).hexdigest():
                    yield f"the stage {stage.id} brings a file `{name}` that its checksum is not of"
    for repeat in (repeat for cell in plan.cells for repeat in cell.repeats):
        if any(origins.get(node, repeat.origin) != repeat.origin for node in repeat.stages):
            yield f"load {repeat.load + 1} of a cell is of another host than its stages"


def stage_places(plan: Plan) -> Mapping[str, tuple[int, str]]:
    """Map each stage to its position in the chain, and to its cell where cells share nothing."""
    positions: dict[str, tuple[int, str]] = {}
    for cell in plan.cells:
        for repeat in cell.repeats:
            positions |= {
                stage: (position, "" if plan.share else cell.id) for position, stage in enumerate(repeat.stages)
            }
    for stage_id, profiling in plan.profile.stages.items() if plan.profile else ():
        positions[profiling] = positions[stage_id]
    return positions


def id_by_origin(stage: PlannedStage, position: tuple[int, str], origin: str, parent: str | None) -> str:
    """Compute the id of a stage as a load of this host; without one, as what is measured wherever the plan is.

    `parent`: the id that the stage before it has then."""
    reading = _possible_ids(stage, *position).index(stage.id)
    return _possible_ids(replace(stage, origin=origin, parent=parent), *position)[reading]


def _possible_ids(stage: PlannedStage, position: int, cell: str) -> Sequence[str]:
    """Compute its id without and with what is read of the output. `cell`: where cells share nothing."""
    root = _Root(stage.build, stage.hardware, cell, stage.origin).parts
    indices = _indices(position, stage.load, stage.run)
    models = [driver(step.kind).settings_model().model_validate(step.settings) for step in stage.steps]
    texts = [identity.step_texts(step, model) for step, model in zip(stage.steps, models, strict=True)]
    seeds = [step.seed for step in stage.steps]
    return [
        identity.stage_id(root, stage.parent, zip([pair[reading] for pair in texts], seeds, strict=True), *indices)
        for reading in (False, True)
    ]
