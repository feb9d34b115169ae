"""Actions of the next run on each build and stage of a plan, from their status; and which stages a request means.

Stages run again where what starts from them needs their database, and bases where they are too old to compare with.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from stepgrid.model.plan import BUILD, Plan, PlannedAxis, PlannedReport, PlannedStage
from stepgrid.model.records import replace
from stepgrid.model.status import MEASURES, Action, NodeStatus, Status
from stepgrid.model.units import duration

Damage: TypeAlias = Callable[[str], str | None]  # why there is no image of a stage to start from
Nodes: TypeAlias = Mapping[str, NodeStatus]

NO_IMAGE = "there is no image of its end state"
REPEATED = "for what starts from it: a running server has no images"
_ACTIONS = {
    Status.DONE: Action.KEEP,
    Status.UNSUPPORTED: Action.LEAVE,
    Status.ELSEWHERE: Action.LEAVE,
    Status.FAILED: Action.RETRY,
    Status.INTERRUPTED: Action.RETRY,
}


def shape(stage: PlannedStage) -> str:
    """Identify what a stage does, whatever build and options it does it with: that decides how long it takes."""
    return json.dumps([[step.kind, step.settings] for step in stage.steps], sort_keys=True)


def decide_action(node: NodeStatus, reason: str | None = None) -> NodeStatus:
    """Set the action of a node by its status. `reason`: why it is measured again, beside its result."""
    action = Action.REDO if reason is not None else _ACTIONS.get(node.status, Action.MEASURE)
    if action is Action.KEEP or (action is node.action and reason is None):
        return node  # as it was created
    return replace(node, action=action, why=reason or "", times=int(action in MEASURES))


def add_replays(
    nodes: Nodes,
    stages: Sequence[PlannedStage],
    damage: Damage,
    servers: Collection[str] = (),
) -> dict[str, NodeStatus]:
    """Replay the ancestors whose databases are needed. `stages` by rank; `servers`: builds that ran before."""
    decided = dict(nodes)
    parents = {stage.id: stage.parent for stage in stages}
    for stage in stages:
        if decided[stage.id].action in MEASURES and not decided[stage.id].has_begun:
            for ancestor, why in replays(stage.id, parents, lambda node: decided[node].action is Action.KEEP, damage):
                decided[ancestor] = replace(decided[ancestor], action=Action.REPLAY, why=why, times=1)
    for node, repeats in _server_repeats(stages, decided, servers).items():
        decided[node] = _add_repeats(decided[node], repeats)
    return decided


def replays(
    stage: str, parents: Mapping[str, str | None], is_done: Callable[[str], bool], damage: Damage
) -> Iterator[tuple[str, str]]:
    """Yield the ancestors that must run again before a stage can, up to the nearest image, and why."""
    node = parents[stage]
    while node is not None and is_done(node) and (why := damage(node)):
        yield node, why
        node = parents[node]


def _server_repeats(stages: Sequence[PlannedStage], nodes: Nodes, servers: Collection[str]) -> dict[str, int]:
    """Count runs of stages on a server that ran before: without images, one for each stage after them that runs."""
    parents = {stage.id: stage.parent for stage in stages if stage.builds[0] in servers}
    times: dict[str, int] = {}
    for stage in parents:
        parent = parents[stage] if nodes[stage].action in MEASURES else None
        while parent is not None:
            times[parent] = times.get(parent, 0) + 1
            parent = parents[parent]
    return times


def _add_repeats(node: NodeStatus, repeats: int) -> NodeStatus:
    often = "once more" if repeats == 1 else f"{repeats} times more"
    why = f"run {often} {REPEATED}"
    if node.action is Action.REDO:
        why = f"{node.why}; {why}"
    return replace(node, why=why, times=repeats + (node.action in MEASURES))


# Arms and bases: what is compared with what

Labels: TypeAlias = Mapping[str, str]
_PLACES = ("rows", "columns", "by", "where", "base")  # of a table, that name axes
_Key: TypeAlias = tuple[str, int, int, tuple[tuple[str, str | None], ...]]  # step, load, run, labels on its axes


def arms(axes: Sequence[PlannedAxis], cells: Collection[Labels], report: PlannedReport) -> tuple[PlannedAxis, ...]:
    """Choose the axes by which arms are compared: all of them, or all but the build where another stands for it.

    With `server: {my: {build: mysql}, pg: {build: postgres}}` an arm is a server: if its build counted once more,
    nothing would have all other axes equal. Where the report names builds, they stay."""
    named = {*report.base, *(name for table in report.tables for key in _PLACES for name in table.get(key, ()))}
    texts = (f"{claim.expect} {' '.join(claim.where)}" for claim in report.claims)
    if BUILD in named or any(re.search(rf"\b{BUILD}\b", text) for text in texts):
        return tuple(axes)
    if not any(_names_builds(axis.name, cells) for axis in axes if axis.name != BUILD):
        return tuple(axes)
    return tuple(axis for axis in axes if axis.name != BUILD)


def _names_builds(axis: str, cells: Iterable[Labels]) -> bool:
    """Tell an axis each of whose labels has one build, of several."""
    builds_by_label: dict[str, set[str]] = {}
    for labels in cells:
        if axis not in labels or BUILD not in labels:
            return False
        builds_by_label.setdefault(labels[axis], set()).add(labels[BUILD])
    builds = builds_by_label.values()
    return all(len(names) == 1 for names in builds) and len(set().union(*builds)) > 1


def choose_base(axes: Sequence[PlannedAxis], base: Labels) -> dict[str, str]:
    """Return the report's base; without one, the first label of the first axis that varies, builds last."""
    if declared := {axis.name: base[axis.name] for axis in axes if axis.name in base}:
        return declared
    varying = [axis for axis in axes if len(axis.labels) > 1]
    first = next((axis for axis in varying if axis.name != BUILD), next(iter(varying), None))
    return {first.name: first.labels[0]} if first else {}


def base_stages(plan: Plan) -> dict[str, set[str]]:
    """Map each stage to those of its base: they measure the same step, all other axes equal."""
    axes = arms(plan.axes, [cell.labels for cell in plan.cells], plan.report)
    base = choose_base(axes, plan.report.base)
    measured = dict(_measurements(plan, axes))
    bases: dict[str, set[str]] = defaultdict(set)
    for (step, load, run, labels), stage in measured.items():
        base_key = (step, load, run, tuple((axis, base.get(axis, label)) for axis, label in labels))
        if measured.get(base_key) not in (None, stage):
            bases[stage].add(measured[base_key])
    return bases


def _measurements(plan: Plan, axes: Sequence[PlannedAxis]) -> Iterator[tuple[_Key, str]]:
    for cell in plan.cells:
        for step in cell.steps:
            if step.measured:
                touching = [axis.name for axis in axes if axis.steps is None or (step.step or step.name) in axis.steps]
                labels = tuple((axis, cell.labels.get(axis, step.variables.get(axis))) for axis in touching)
                for repeat in cell.repeats:
                    yield (step.name, repeat.load, repeat.run, labels), repeat.stages[step.stage]


def outdated_bases(
    plan: Plan, running: Collection[str], measured: Mapping[str, datetime], now: datetime
) -> dict[str, str]:
    """List base stages to measure again beside what is about to run, and why: their results are too old.

    `measured`: when the result that counts was measured, of the stages that have one."""
    if plan.report.within is None or not running:
        return {}
    reasons = {}
    for stage, bases in base_stages(plan).items():
        for base in bases - {*running} if stage in running else ():
            age = (now - measured[base]).total_seconds() if base in measured else 0.0
            if age > plan.report.within:
                reasons[base] = f"compare_within: the base was measured more than {duration(plan.report.within)} ago"
    return reasons


# Stages that a request means by cells and steps


def step_names(plan: Plan) -> list[str]:
    """List the names that a request may use of steps."""
    return list(dict.fromkeys(name for cell in plan.cells for step in cell.steps for name in step.names))
