"""Estimates of a run: what it would do and why, its time, the loads that a difference needs, and nodes of a cluster.

All of it is pure: what the store knows comes as values."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import variance
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, field

from stepgrid.model.plan import BUILD, Json, Plan, PlannedCell, PlannedStage
from stepgrid.model.status import Action, Eta, NodeStatus, Status
from stepgrid.model.units import SIZED, counted, exact_size
from stepgrid.plan.actions import choose_base
from stepgrid.plan.difference import UNSET, ChangedInput

# Time: what stages take, what sharing saves, and the loads that a difference needs

DIFFERENCE = 0.03
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


def preview_json(preview: Preview) -> dict[str, Any]:
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


def _node_json(node: Node) -> dict[str, Any]:
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


def _input_json(entry: ChangedInput) -> dict[str, Any]:
    """Leave out `old` of a new input and `new` of one that is gone: null is a value."""
    sides: Mapping[str, Any] = {"old": entry.old, "new": entry.new}
    values = {name: value for name, value in sides.items() if value is not UNSET}
    return {"field": entry.field, **values, "where": entry.where or None}


def _totals(preview: Preview) -> dict[str, Any]:
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


def design_text(plan: Plan) -> str:
    """pairs: 15 of 729 cells; 9 loads, 6 fewer than cells"""
    assert plan.design is not None
    loads = len({cell.repeats[0].stages[0] for cell in plan.cells if len(cell.repeats[0].stages) > 1})
    saved = sum(len(cell.repeats[0].stages) > 1 for cell in plan.cells) - loads
    text = f"{plan.design.title}: {len(plan.cells):,} of {counted(plan.design.points, 'cell')}"
    return f"{text}; {counted(loads, 'load')}, {saved:,} fewer than cells" if saved else text


def search_text(search: Mapping[str, Json]) -> str:
    """writes: rate from 1 MiB to 512 MiB, 9 points of each load, for `max rate where …`."""
    sized = str(search["param"]).endswith(SIZED)
    low, high = (exact_size(int(str(search[end]))) if sized else str(search[end]) for end in ("least", "most"))
    ends = f"{search['variable']} from {low} to {high}"
    return f"{search['step']}: {ends}, {search['points']} points of each load, for `{search['for']}`"


# Which of several equal machines does what

SWEEPS = 1000  # groups that are moved at most


class StageGroup(NamedTuple):
    """Jobs that are compared with each other, with those that they begin from: they stay on one machine."""

    name: str
    jobs: tuple[str, ...]


class _Machine(Struct):
    seconds: Mapping[str, float]  # of each job
    busy: float = 0.0
    uses: Counter[str] = field(default_factory=Counter)  # job -> groups here that have it
    groups: list[StageGroup] = []  # that may move

    def seconds_with(self, jobs: Iterable[str]) -> float:
        return self.busy + sum(self.seconds[job] for job in jobs if not self.uses[job])

    def seconds_without(self, jobs: Iterable[str]) -> float:
        return self.busy - sum(self.seconds[job] for job in jobs if self.uses[job] == 1)

    def add(self, group: StageGroup) -> None:
        self.busy = self.seconds_with(group.jobs)
        self.uses.update(group.jobs)
        self.groups.append(group)

    def remove(self, group: StageGroup) -> None:
        self.busy = self.seconds_without(group.jobs)
        self.uses.subtract(group.jobs)
        self.groups.remove(group)


def distribute(
    seconds: Mapping[str, float],
    groups: Sequence[StageGroup],
    machines: int,
    begun: Mapping[str, int] = MappingProxyType({}),
    databases: Mapping[str, int] = MappingProxyType({}),
) -> list[dict[str, int]]:
    """Distribute groups over machines: for each machine its jobs, and how many of its groups have each.

    Groups may begin from the same load, which is then made on each of their machines. So there are two beginnings,
    of which the better counts: each group by itself, and those that share a load together.
    `begun`: the machines of groups that stay there, by name. `databases`: the machines of jobs that are done: what
    begins from them need not repeat them there."""
    free = [group for group in groups if group.name not in begun]
    families: dict[frozenset[str], list[StageGroup]] = {}
    joined = _join(group.jobs for group in free)
    for group in free:
        families.setdefault(joined[group.jobs[0]], []).append(group)
    fleets = []
    for parts in ([[group] for group in free], list(families.values())):
        fleet = [_Machine(seconds) for _ in range(machines)]
        for job, position in databases.items():
            fleet[position].uses[job] = 1
        for group in groups:
            if group.name in begun:
                fleet[begun[group.name]].add(group)
        for machine in fleet:
            machine.groups.clear()  # these stay
        _arrange(fleet, parts)
        fleets.append(fleet)
    best = min(fleets, key=lambda fleet: max(machine.busy for machine in fleet))
    return [{job: uses for job, uses in machine.uses.items() if uses and job not in databases} for machine in best]


def _join(sets: Iterable[Collection[str]]) -> dict[str, frozenset[str]]:
    """Join sets that overlap, by however many steps: each member with all that it is joined with."""
    joined: dict[str, frozenset[str]] = {}
    for members in sets:
        union = frozenset(members).union(*(joined[member] for member in members if member in joined))
        joined |= dict.fromkeys(union, union)
    return joined


def _arrange(fleet: Sequence[_Machine], parts: Sequence[Sequence[StageGroup]]) -> None:
    """Place the longest part first, where it ends first; then move groups, as long as the last machine ends earlier."""
    seconds = fleet[0].seconds
    joined = [(dict.fromkeys(job for group in part for job in group.jobs), part) for part in parts]
    for part_jobs, part in sorted(joined, key=lambda pair: -sum(seconds[job] for job in pair[0])):
        machine = min(fleet, key=lambda machine: machine.seconds_with(part_jobs))
        for group in part:
            machine.add(group)
    for _ in range(SWEEPS):
        if not _move_group(fleet):
            break


def _move_group(fleet: Sequence[_Machine]) -> bool:
    """Move a group from the machine that ends last to one that ends earlier with it than that machine did."""
    last = max(fleet, key=lambda machine: machine.busy)
    moves = [
        (max(last.seconds_without(group.jobs), machine.seconds_with(group.jobs)), group, machine)
        for group in last.groups
        for machine in fleet
        if machine is not last
    ]
    end, group, machine = min(moves, key=lambda move: move[0], default=(last.busy, None, last))
    if group is None or end >= last.busy - 1e-9:
        return False
    last.remove(group)
    machine.add(group)
    return True


# The stages of each node of a cluster

_Key: TypeAlias = tuple[tuple[str, str], ...]  # labels on axes


def _groups(plan: Plan, running: Collection[str]) -> Iterator[StageGroup]:
    """Group the stages of each load by cells that the report compares."""
    groups: dict[tuple[_Key, int], dict[str, None]] = {}
    for key, cell in _keyed_cells(plan):
        for repeat in cell.repeats:
            jobs = groups.setdefault((key, repeat.load), {})
            jobs.update(dict.fromkeys(stage for stage in repeat.stages if stage in running))
    for (key, load), jobs in groups.items():
        if jobs:
            yield StageGroup(", ".join([*(f"{axis}={label}" for axis, label in key), f"load {load + 1}"]), tuple(jobs))


def _keyed_cells(plan: Plan) -> Iterator[tuple[_Key, PlannedCell]]:
    """Give cells that the report compares one key: they differ in builds, and on the axes of a base."""
    bases = [base for table in plan.report.tables if isinstance(base := table.get("base"), Mapping)]
    compared = {BUILD, *choose_base(plan.axes, plan.report.base), *(axis for base in bases for axis in base)}
    for cell in plan.cells:
        yield tuple((axis, label) for axis, label in cell.labels.items() if axis not in compared), cell


class Progress(Struct, frozen=True):
    """State of the stages of one machine of the plan."""

    running: Mapping[str, float]  # stage that lacks a result -> seconds that it is expected to take
    measured: Mapping[str, str]  # stage with a result -> the node that measured it


def assign_nodes(plan: Plan, progress: Progress, nodes: Sequence[str]) -> dict[str, str]:
    """Assign each stage that lacks a result to a node of a cluster; what is compared stays on one.

    What was begun stays where it is; a load that was made on a node draws what begins from it there; the rest goes
    where it ends first. Results of other nodes than these hold nothing."""
    positions = {stage: nodes.index(node) for stage, node in progress.measured.items() if node in nodes}
    seconds, groups = _work(plan, progress)
    joined = _join(_compared_stages(plan))
    begun: dict[str, int] = {}
    for stage in progress.running:  # where most of the results are of what it is compared with
        counts = Counter(positions[member] for member in sorted(joined[stage]) if member in positions)
        if counts:
            begun[stage] = counts.most_common(1)[0][0]
    databases = {stage: positions[stage] for stage in seconds if stage in positions}
    machines = distribute(seconds, groups, len(nodes), _begun_groups(groups, begun), databases)

    def busiest(stage: str) -> int:
        return max(range(len(nodes)), key=lambda at: sum(machines[at].get(member, 0) for member in joined[stage]))

    return {stage: nodes[begun[stage] if stage in begun else busiest(stage)] for stage in progress.running}


def _work(plan: Plan, progress: Progress) -> tuple[dict[str, float], list[StageGroup]]:
    """List what runs, with the stages that it begins from: where their databases are not, they run again."""
    stages = {stage.id: stage for stage in plan.stages}
    ancestors = [ancestor for stage in progress.running for ancestor in _ancestors(stages, stage)]
    needed = dict.fromkeys([*progress.running, *ancestors])
    seconds = {stage: progress.running.get(stage, stages[stage].seconds) for stage in needed}
    return seconds, [group for group in _groups(plan, needed) if not progress.running.keys().isdisjoint(group.jobs)]


def _ancestors(stages: Mapping[str, PlannedStage], stage: str) -> Iterator[str]:
    parent = stages[stage].parent
    while parent is not None:
        yield parent
        parent = stages[parent].parent


def _compared_stages(plan: Plan) -> Iterable[set[str]]:
    """Collect stages at one place in their cells, of one load, which the report compares."""
    compared: dict[tuple[_Key, int, int], set[str]] = defaultdict(set)
    for key, cell in _keyed_cells(plan):
        for repeat in cell.repeats:
            for position, stage in enumerate(repeat.stages):
                compared[key, repeat.load, position].add(stage)
    return compared.values()


def _begun_groups(groups: Sequence[StageGroup], begun: Mapping[str, int]) -> dict[str, int]:
    """Locate groups that have a job of their own which was begun: a load that several share does not hold them."""
    uses = Counter(job for group in groups for job in group.jobs)
    located: dict[str, int] = {}
    for group in groups:
        machines = [begun[job] for job in group.jobs if job in begun and uses[job] == 1]
        located |= {group.name: machines[0]} if machines else {}
    return located
