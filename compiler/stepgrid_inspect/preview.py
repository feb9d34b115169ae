"""A plan against the store: what would run, why, for how long and on how much disk."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from statistics import fmean, median, variance
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import MsgspecError, Struct, msgpack

from stepgrid.collect.result_figures import figures_file
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import DIFFERENCE, Plan, PlannedCell, PlannedRepeat, PlannedSearch, PlannedStage
from stepgrid.model.records import Catalogues, replace
from stepgrid.model.status import Action, Eta, NodeStatus, PlanStatus, Status
from stepgrid.model.units import SIZED, as_number, exact_size
from stepgrid.plan import actions, plan_file
from stepgrid.plan.actions import Nodes
from stepgrid.plan.difference import UNSET, ChangedInput, Link, differences, links_of
from stepgrid.plugins.registry import read_settings
from stepgrid.store.attempts import attempt_record
from stepgrid.store.builds import build_catalogue
from stepgrid.store.images import image_bytes
from stepgrid.store.paths import FIGURES_DIGEST, folder_bytes
from stepgrid.store.plans import earlier_plans, is_of_spec
from stepgrid.store.results import result_record
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store


def preview_run(plan: Plan, store: Store) -> Preview:
    return _Previewer(plan, store).preview()


class _Previewer(Struct, frozen=True, dict=True):  # no slots: cached_property needs a dict
    plan: Plan
    store: Store

    def preview(self) -> Preview:
        nodes = [self._node(node) for node in self._nodes.values()]
        estimates = {stage.id: self._nodes[stage.id].seconds for stage in self.plan.stages}
        total = None if None in estimates.values() else sum(estimate or 0.0 for estimate in estimates.values())
        power = estimate_power(_past_figures(self.store, self.plan), self.plan, total)
        saved = saved_seconds(self.plan, estimates)
        unread = self._unread_results()
        metrics = sorted({name for stage, folder in unread for name in self._changed_metrics(stage, folder)})
        return Preview(self.plan, nodes, saved, power, self._abandoned(), len(unread), metrics, self._status.eta)

    def _unread_results(self) -> list[tuple[PlannedStage, Path]]:
        """List stages with a result whose kept output was not read for the plan's metrics."""
        results = [(stage, self._nodes[stage.id].result) for stage in self.plan.stages]
        return [
            (stage, result.folder)
            for stage, result in results
            if result is not None
            and result.status is Status.DONE
            and not figures_file(result.folder, stage.steps).exists()
        ]

    def _changed_metrics(self, stage: PlannedStage, folder: Path) -> set[str]:
        """Compare what is read of a stage's output with the newest plan that had it read; empty if there is none."""
        for earlier in self._earlier_of_spec:
            steps = next((old.steps for old in earlier.stages if old.id == stage.id), ())
            if steps and figures_file(folder, steps).exists():
                pairs = zip(steps, stage.steps, strict=True)
                return {name for old, new in pairs for name in changed_readings(read_settings(old), read_settings(new))}
        return set()

    def _abandoned(self) -> list[AbandonedResult]:
        """List results of earlier plans of this spec that belong to no spec any more."""
        titles = {stage.id: stage.title for plan in reversed(self._earlier_of_spec) for stage in plan.stages}
        other_plans = (plan for plan in self._earlier if not is_of_spec(plan, self.plan))
        needed = {stage.id for plan in (self.plan, *other_plans) for stage in plan.stages}
        results = {stage: self.store.result(stage) for stage in titles.keys() - needed}
        records = {stage: result_record(result) for stage, result in sorted(results.items()) if result}
        return [AbandonedResult(stage, titles[stage], record.seconds) for stage, record in records.items() if record]

    @cached_property
    def _earlier(self) -> list[Plan]:
        return list(earlier_plans(self.store, self.plan))

    @cached_property
    def _earlier_of_spec(self) -> list[Plan]:
        return [earlier for earlier in self._earlier if is_of_spec(earlier, self.plan)]

    @cached_property
    def _status(self) -> PlanStatus:
        return StatusReader(self.store, self.plan).read()

    @cached_property
    def _nodes(self) -> Mapping[str, NodeStatus]:
        statuses = self._status.nodes
        catalogues = {
            build.id: build_catalogue(self.store, build.id) if statuses[build.id].status is Status.DONE else None
            for build in self.plan.builds
        }
        return leave_unsupported(self.plan, statuses, catalogues) | self._reused(statuses)

    def _reused(self, nodes: Mapping[str, NodeStatus]) -> dict[str, NodeStatus]:
        """Explain nodes that the run of another spec has done."""
        other_plans = [plan for plan in self._earlier if plan.spec != self.plan.spec]
        stages = {stage.id: plan.spec for plan in other_plans for stage in plan.stages}
        foreign = stages | {build.id: plan.spec for plan in other_plans for build in plan.builds}
        reused = {}
        for node in nodes.keys() & foreign.keys():
            if nodes[node].action is Action.KEEP and (spec := self._spec_of(nodes[node])) not in (None, self.plan.spec):
                reused[node] = replace(nodes[node], why=f"{MADE_BY}{spec}")
        return reused

    def _spec_of(self, node: NodeStatus) -> str | None:
        """Look up the spec whose plan a result or build was made for."""
        folder = node.result.folder if node.result else self.store.build(node.id)
        try:
            return plan_file.read_head(self.store.plan(attempt_record(folder).plan)).spec
        except plan_file.DAMAGED:
            return None

    @cached_property
    def _comparisons(self) -> Mapping[str, StageInputs]:
        runs = (Action.MEASURE, Action.RETRY)
        stale = [node.id for node in self._nodes.values() if not node.is_build and node.action in runs]
        return compare_inputs(self.plan, self.store, self._earlier_of_spec, stale)

    @cached_property
    def _stages(self) -> Mapping[str, PlannedStage]:
        return {stage.id: stage for stage in self.plan.stages}

    @cached_property
    def _cells(self) -> Mapping[str, tuple[str, ...]]:
        """Cells that use each node."""
        cells: dict[str, dict[str, None]] = defaultdict(dict)
        for cell in self.plan.cells:
            for stage in (stage for repeat in cell.repeats for stage in repeat.stages):
                for node in (stage, *self._stages[stage].builds):
                    cells[node][cell.id] = None
        return {node: tuple(ids) for node, ids in cells.items()}

    def _node(self, node: NodeStatus) -> Node:
        cells = self._cells.get(node.id, ())
        if node.is_build:
            sizes = self._build_bytes.values()
            size = self._build_bytes.get(node.id) or (round(fmean(sizes)) if sizes else None)
            return Node(node, False, cells, bytes=size)
        comparison, stage = self._comparisons.get(node.id, StageInputs()), self._stages[node.id]
        # a server that ran before has no image
        is_load = bool(stage.children) and actions.REPEATED not in node.why
        return Node(
            replace(node, why=comparison.because) if comparison.because and not node.because else node,
            is_load,
            cells,
            comparison.inputs,
            comparison.old[-1].stage.id if comparison.old else None,
            self._bytes(stage) if is_load else None,
        )

    @cached_property
    def _build_bytes(self) -> Mapping[str, int]:
        ready = (build.id for build in self.plan.builds if self._nodes[build.id].status is Status.DONE)
        return {build: folder_bytes(self.store.build(build)) for build in ready}

    def _bytes(self, stage: PlannedStage) -> int | None:
        """Estimate the size of a stage's image by images of the same shape."""
        if (size := image_bytes(self.store, stage.id)) is not None:
            return size
        sizes = self._image_bytes.get(actions.shape(stage))
        return round(median(sizes)) if sizes else None

    @cached_property
    def _image_bytes(self) -> Mapping[str, list[int]]:
        """Sizes of images of this plan, and of those compared with, by the shape of their stage."""
        stages = {node.id: self._stages[node.id] for node in self._nodes.values() if node.result}
        stages |= {c.old[-1].stage.id: c.old[-1].stage for c in self._comparisons.values() if c.old}
        sizes: dict[str, list[int]] = defaultdict(list)
        for stage in stages.values():
            if (size := image_bytes(self.store, stage.id)) is not None:
                sizes[actions.shape(stage)].append(size)
        return sizes


def changed_readings(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """List metrics that two steps read in different ways, and other settings of reading such as `series`."""
    for setting in sorted(name for name in {*old, *new} if old.get(name) != new.get(name)):
        tables = [old.get(setting) or {}, new.get(setting) or {}]
        if setting == METRICS:
            yield from (name for name in sorted({*tables[0], *tables[1]}) if tables[0].get(name) != tables[1].get(name))
        else:
            yield setting


# The inputs of stages that must run, compared with the most similar stage that has a result

SAME = "no input differs that a plan records: another version of stepgrid planned the earlier result"
METRICS = "metrics"  # the setting that has a table of what is read of a step's output
MOST_PLANS, MOST_STAGES, MOST_CELLS = 4, 400, 3  # that are compared: plans, stages of a plan, cells of a stage


class StageInputs(Struct, frozen=True):
    because: str = ""
    inputs: tuple[ChangedInput, ...] = ()
    old: Sequence[Link] = ()  # the chain of the stage that it was compared with


_Place: TypeAlias = tuple[frozenset[tuple[str, str]], int, int]  # labels, load, run


class _Position(Struct, frozen=True):
    """Position of a stage: a cell, its repeat, and the index in the chain."""

    cell: PlannedCell
    repeat: PlannedRepeat
    index: int

    def key(self, axes: frozenset[str], repeat: PlannedRepeat | None = None) -> _Place:
        labels = frozenset((axis, label) for axis, label in self.cell.labels.items() if axis in axes)
        load, run = (repeat.load, repeat.run) if repeat else (self.repeat.load, self.repeat.run)
        return labels, load, run


def compare_inputs(plan: Plan, store: Store, earlier: Sequence[Plan], stale: Sequence[str]) -> dict[str, StageInputs]:
    """Compare stale stages with earlier plans of the same spec, newest first."""
    if not earlier or not stale:
        return {}
    comparer = _Comparer(plan, store, earlier[:MOST_PLANS])
    comparisons = {node: comparer.compare(node) for node in stale[:MOST_STAGES]}
    skipped = StageInputs(f"not compared: more than {MOST_STAGES} stages differ")
    return comparisons | dict.fromkeys(stale[MOST_STAGES:], skipped)


class _EarlierPlan(NamedTuple):
    plan: Plan
    axes: frozenset[str]  # that the present plan has, too
    chains: Mapping[_Place, Sequence[str]]  # of stages, by the labels that their cells have on these axes
    links: Callable[[Sequence[str]], list[Link]]

    @classmethod
    def of(cls, plan: Plan, present_axes: Collection[str]) -> _EarlierPlan:
        axes = frozenset(axis.name for axis in plan.axes if axis.name in present_axes)
        chains: dict[_Place, Sequence[str]] = {}
        for cell in plan.cells:
            for repeat in cell.repeats:
                chains.setdefault(_Position(cell, repeat, 0).key(axes), repeat.stages)
        return cls(plan, axes, chains, links_of(plan))

    def axes_of(self, root: str) -> list[str]:
        """List the axes on which the first cell has a point whose stages begin with this one."""
        cells = (cell for cell in self.plan.cells if any(repeat.stages[0] == root for repeat in cell.repeats))
        return next((sorted(cell.labels) for cell in cells), [])


class _Comparer:
    def __init__(self, plan: Plan, store: Store, earlier: Sequence[Plan]) -> None:
        self._store, self._share = store, plan.share
        self._stages, self._links = {stage.id for stage in plan.stages}, links_of(plan)
        self._positions = defaultdict[str, list[_Position]](list)
        for cell in plan.cells:
            for repeat in cell.repeats:
                for index, stage in enumerate(repeat.stages):
                    self._positions[stage].append(_Position(cell, repeat, index))
        axes = {axis.name for axis in plan.axes}
        self._earlier = [_EarlierPlan.of(old, axes) for old in earlier]

    def compare(self, node: str) -> StageInputs:
        positions = self._positions[node][:MOST_CELLS]
        comparisons = []
        for position in positions:
            for old_plan, chain in islice(self._candidates(position), MOST_PLANS):
                comparisons.append(self._compare_chains(old_plan, old_plan.links(chain), positions[0]))
        if comparisons:
            return min(comparisons, key=lambda comparison: len(comparison.inputs))
        _, axes, chains, _ = self._earlier[0]
        if positions[0].key(axes) in chains:
            return StageInputs("was not measured yet")
        is_measured_cell = positions[0].key(axes, PlannedRepeat(0, 0, ())) in chains
        return StageInputs("a further repeat" if is_measured_cell else "a new cell")

    def _candidates(self, position: _Position) -> Iterator[tuple[_EarlierPlan, Sequence[str]]]:
        """List chains at the same place of the same cell, as far as they have results."""
        for old_plan in self._earlier:
            chain = old_plan.chains.get(position.key(old_plan.axes), ())[: position.index + 1]
            is_complete = len(chain) == position.index + 1
            if is_complete and chain[-1] not in self._stages and self._store.result(chain[-1]):
                yield old_plan, chain

    def _compare_chains(self, old_plan: _EarlierPlan, old: Sequence[Link], position: _Position) -> StageInputs:
        cell, stages = position.cell, position.repeat.stages[: position.index + 1]
        inputs = differences(old, self._links(stages))
        if old_plan.plan.share != self._share:
            inputs = (ChangedInput("share", old_plan.plan.share, self._share), *inputs)
        elif not self._share and (axes := old_plan.axes_of(old[0].stage.id)) != sorted(cell.labels):
            # a cell that shares nothing is an input of its stages, by its labels
            inputs = (ChangedInput("axes of the cell (share: false)", axes, sorted(cell.labels)), *inputs)
        return StageInputs("" if inputs else SAME, inputs, old)


# Preview: what a run would do, and why

MADE_BY = "made by "  # another spec


class Node(Struct, frozen=True):
    """A build or a stage, with what it costs and why it runs."""

    status: NodeStatus
    load: bool  # a stage that others begin from
    cells: tuple[str, ...]
    inputs: tuple[ChangedInput, ...] = ()  # that differ from the most similar stage that has a result
    compared: str | None = None  # that stage
    bytes: int | None = None

    @property
    def runs(self) -> bool:
        return self.status.times > 0

    @property
    def seconds(self) -> float | None:
        """Seconds of all its runs."""
        once = self.status.seconds
        return None if once is None else once * max(self.status.times, 1)


class AbandonedResult(Struct, frozen=True):
    """A result that no longer belongs to the spec."""

    stage: str
    title: str
    seconds: float | None


class Preview(Struct, frozen=True):
    plan: Plan
    nodes: Sequence[Node]  # builds, then stages in the order in which they run
    saved: float
    power: Power | None
    abandoned: Sequence[AbandonedResult] = ()
    to_read: int = 0  # results whose kept output is read again: of another metric, pattern or parser
    metrics_to_read: Sequence[str] = ()  # names of those that are new, changed or gone
    eta: Eta | None = None  # of the plan, unsupported stages included

    @property
    def running(self) -> list[Node]:
        return [node for node in self.nodes if node.runs]

    @property
    def sized(self) -> list[Node]:
        """Running nodes that leave something that stays: builds, and stages that others begin from."""
        return [node for node in self.running if node.status.is_build or node.load]

    @property
    def seconds(self) -> float | None:
        return _sum([node.seconds for node in self.running])

    @property
    def time(self) -> Eta:
        """The same, as a range where that of the plan is one."""
        if self.eta is None or not self.eta.seconds or not self.seconds:
            return Eta(self.seconds)
        return self.eta.share(self.seconds / self.eta.seconds)

    @property
    def bytes(self) -> int | None:
        return _sum([node.bytes for node in self.sized])


_Number = TypeVar("_Number", int, float)


def _sum(values: Sequence[_Number | None]) -> _Number | None:
    """Sum the values that are not None; None where all of several are."""
    numbers = [value for value in values if value is not None]
    return None if values and not numbers else sum(numbers)


def preview_json(preview: Preview) -> dict[str, object]:
    plan = preview.plan
    return {
        "spec": plan.spec,
        "scale": plan.scale,
        "plan": plan.digest,
        "title": plan.title,
        "cells": [{"id": cell.id, "axes": dict(cell.labels), "repeats": len(cell.repeats)} for cell in plan.cells],
        "nodes": [_node_json(node) for node in preview.nodes],
        "abandoned": [
            {"id": result.stage, "title": result.title, "seconds": result.seconds} for result in preview.abandoned
        ],
        "totals": _totals(preview),
        "warnings": list(plan.warnings),
    }


def _node_json(node: Node) -> dict[str, object]:
    status = node.status
    return {
        "id": status.id,
        "kind": status.kind,
        "title": status.title,
        "state": status.status,
        "action": status.action,
        "runs": node.runs,
        "cells": list(node.cells),
        "because": status.because,
        "compared": node.compared,
        "reasons": [_input_json(entry) for entry in node.inputs],
        "seconds": node.seconds,
        "bytes": node.bytes,
    }


def _input_json(entry: ChangedInput) -> dict[str, object]:
    """Leave out `old` of a new input and `new` of one that is gone: null is a value."""
    sides: Mapping[str, object] = {"old": entry.old, "new": entry.new}
    values = {name: value for name, value in sides.items() if value is not UNSET}
    return {"field": entry.field, **values, "where": entry.where or None}


def _totals(preview: Preview) -> dict[str, object]:
    running, plan, power = preview.running, preview.plan, preview.power
    states = Counter(node.status.status for node in preview.nodes)
    actions = Counter(node.status.action for node in preview.nodes)
    return {
        "cells": len(plan.cells),
        "builds": len(plan.builds),
        "stages": len(plan.stages),
        "states": {status: states[status] for status in Status},
        "actions": {action: actions[action] for action in Action},
        "to_run": {kind: sum(node.status.kind == kind for node in running) for kind in ("build", "stage")},
        "results_to_read": preview.to_read,
        "metrics_to_read": list(preview.metrics_to_read),
        "seconds": preview.seconds,
        "hours": None if preview.seconds is None else preview.seconds / 3600,
        "seconds_unknown": sum(node.seconds is None for node in running),
        "bytes": preview.bytes,
        "bytes_unknown": sum(node.bytes is None for node in preview.sized),
        "saved_seconds": preview.saved,
        "saved_hours": preview.saved / 3600,
        "to_see_3_percent": None
        if power is None
        else {
            "step": power.step,
            "spread": power.spread,
            "loads": power.loads,
            "seconds": power.seconds,
            "loads_for_verdict": power.verdict,
        },
    }


def search_text(search: PlannedSearch) -> str:
    """writes: rate from 1 MiB to 512 MiB, 9 points of each load, for `max rate where …`."""
    low, high = map(exact_size if search.param.endswith(SIZED) else str, (search.least, search.most))
    ends = f"{search.variable} from {low} to {high}"
    return f"{search.step}: {ends}, {search.points} points of each load, for `{search.objective}`"


# What sharing saves, and the loads that a difference needs

_ERROR = 1.959964
_Z = _ERROR + 0.841621  # a two-sided error of 5 %, and 80 % of such differences detected


def saved_seconds(plan: Plan, seconds: Mapping[str, float | None]) -> float:
    """Sum what sharing saves: stages that cells share, as often as each would run again from scratch."""
    uses = Counter(stage for cell in plan.cells for repeat in cell.repeats for stage in repeat.stages)
    return math.fsum((seconds[stage] or 0.0) * (count - 1) for stage, count in uses.items())


class Power(Struct, frozen=True):
    """Loads that tell a difference of 3 % between two cells."""

    step: str  # the noisiest
    spread: float  # of its repeats: a standard deviation, relative
    loads: int  # for an interval that leaves out 1
    seconds: float | None  # of all those loads, from scratch
    verdict: int | None = None  # loads for an interval beyond the smallest effect; None: no number is enough


def estimate_power(figures: Mapping[str, Sequence[Sequence[float]]], plan: Plan, seconds: float | None) -> Power | None:
    """Estimate the loads that the noisiest step needs; None where nothing was repeated.

    `figures`: step -> for each cell the figure of each load. `seconds`: of the whole plan."""
    spreads = {step: spread for step, cells in figures.items() if (spread := _pooled_spread(cells)) is not None}
    if not spreads:
        return None
    step = max(spreads, key=lambda name: spreads[name])
    spread, effect = spreads[step], plan.report.smallest_effect
    loads = needed_loads(spread, DIFFERENCE)
    planned_loads = max((repeat.load + 1 for cell in plan.cells for repeat in cell.repeats), default=1)
    total = None if seconds is None else seconds / planned_loads * loads
    verdict = needed_loads(spread, DIFFERENCE, effect) if effect < DIFFERENCE else None
    return Power(step, spread, loads, total, verdict)


def needed_loads(spread: float, difference: float, beyond: float = 0.0) -> int:
    """Count loads of each of two cells, compared load by load as the report does, for an interval that lies beyond.

    The last term stands for the spread being estimated itself (Guenther 1981): close to what the noncentral t says.
    """
    distance = math.log1p(difference) - math.log1p(beyond)
    return max(2, math.ceil(2 * (_Z * spread / distance) ** 2 + _ERROR**2 / 2))


def _pooled_spread(cells: Iterable[Sequence[float]]) -> float | None:
    """Pool the spread over cells, on the logarithm: a cell with few loads has little weight, one with a 0 none."""
    logs = [[math.log(value) for value in loads] for loads in cells if min(loads, default=0) > 0]
    variances = [(variance(values), len(values) - 1) for values in logs if len(values) > 1]
    freedom = sum(count for _, count in variances)
    return math.sqrt(sum(value * count for value, count in variances) / freedom) if variances else None


MOST_RESULTS = 200  # that are read: the spread is known well enough by then


def _past_figures(store: Store, plan: Plan) -> dict[str, list[Sequence[float]]]:
    """Map each step to the figures of every load that has one, for each cell."""
    figures: dict[str, list[Sequence[float]]] = defaultdict(list)
    budget = MOST_RESULTS
    for cell in plan.cells:
        chains = [repeat.stages for repeat in cell.repeats if repeat.run == 0]
        if len(chains) < 2 or budget < len(chains):
            continue
        budget -= len(chains)
        for step in cell.steps:
            if step.measured and (step.stage > 0 or len(chains[0]) == 1):  # cells share their loads
                stages = [chain[step.stage] for chain in chains]
                values = [value for stage in stages if (value := _figure(store, stage, step.index)) is not None]
                figures[step.name].append(values)
    return dict(figures)


def _figure(store: Store, stage: str, index: int) -> float | None:
    """Read the figure of a step from the newest reading of the result."""
    result = store.result(stage)
    paths = result.glob("figures.*.msgpack") if result else ()
    for path in sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            value = msgpack.decode(path.read_bytes()[FIGURES_DIGEST:])["steps"][index]["metrics"].get(QPS)
        except (OSError, MsgspecError, LookupError, TypeError, AttributeError):
            continue  # by an earlier version
        number = as_number(value)
        return number if number and number > 0 else None
    return None


def leave_unsupported(plan: Plan, nodes: Nodes, catalogues: Catalogues) -> dict[str, NodeStatus]:
    """Leave stages that would run where their build lacks an option that another build has, or may have."""
    decided, engines = dict(nodes), {build.id: build.engine for build in plan.builds}
    for stage in sorted(plan.stages, key=lambda stage: stage.rank):
        parent = decided[stage.parent] if stage.parent else None
        inherited = parent.why if parent and parent.action is Action.LEAVE else ""
        why = inherited or next(_missing_options(stage, catalogues, engines), "")
        if why and decided[stage.id].action in (Action.MEASURE, Action.RETRY):
            decided[stage.id] = replace(decided[stage.id], action=Action.LEAVE, why=why, times=0)
    return decided


def _missing_options(stage: PlannedStage, catalogues: Catalogues, engines: Mapping[str, str]) -> Iterator[str]:
    options = catalogues.get(stage.build)
    if options is None:
        return
    builds = [build for build in catalogues if build in engines and engines[build] == engines[stage.build]]
    peers = [catalogues[build] for build in builds if build != stage.build]
    for step in stage.steps:
        for name, option in step.options.items():
            if option.unsupported == "cell" and name not in options and any(o is None or name in o for o in peers):
                yield f"the build has no option {name}"
