"""What the next run does with each build and stage of a plan, from what became of it so far. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.model.status import MEASURES, Action, NodeStatus, Stage, Status

Catalogues: TypeAlias = Mapping[str, Mapping[str, Any] | None]  # build -> its options; None: it cannot be told
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


def planned(node: NodeStatus, again: str | None = None) -> NodeStatus:
    """`again`: why it is measured beside its result."""
    action = Action.REDO if again is not None else _ACTIONS.get(node.status, Action.MEASURE)
    if action is Action.KEEP or (action is node.action and again is None):
        return node  # as it is made
    return replace(node, action=action, why=again or "", times=int(action in MEASURES))


def with_replays(
    nodes: Nodes,
    stages: Sequence[Stage],
    damage: Damage,
    servers: Collection[str] = (),
) -> dict[str, NodeStatus]:
    """`stages` by rank. `servers`: builds that ran before."""
    found = dict(nodes)
    parents = {stage.id: stage.parent for stage in stages}
    for stage in stages:
        if found[stage.id].action in MEASURES and not found[stage.id].has_begun:
            for ancestor, why in replays(stage.id, parents, lambda node: found[node].action is Action.KEEP, damage):
                found[ancestor] = replace(found[ancestor], action=Action.REPLAY, why=why, times=1)
    for node, more in _repeats(stages, found, servers).items():
        found[node] = _repeated(found[node], more)
    return found


def replays(
    stage: str, parents: Mapping[str, str | None], is_done: Callable[[str], bool], damage: Damage
) -> Iterator[tuple[str, str]]:
    """The ancestors that must run again before a stage can, up to the nearest image, and why."""
    node = parents[stage]
    while node is not None and is_done(node) and (why := damage(node)):
        yield node, why
        node = parents[node]


def _repeats(stages: Sequence[Stage], found: Nodes, servers: Collection[str]) -> dict[str, int]:
    """A server that ran before has no images: its stages run once for each stage after them that runs."""
    parents = {stage.id: stage.parent for stage in stages if stage.builds[0] in servers}
    times: dict[str, int] = {}
    for stage in parents:
        parent = parents[stage] if found[stage].action in MEASURES else None
        while parent is not None:
            times[parent] = times.get(parent, 0) + 1
            parent = parents[parent]
    return times


def _repeated(node: NodeStatus, more: int) -> NodeStatus:
    often = "once more" if more == 1 else f"{more} times more"
    why = f"run {often} {REPEATED}"
    if node.action is Action.REDO:
        why = f"{node.why}; {why}"
    return replace(node, why=why, times=more + (node.action in MEASURES))


def without_unsupported(plan: Plan, nodes: Nodes, catalogues: Catalogues) -> dict[str, NodeStatus]:
    """Stages that would run are left where their build lacks an option that another build has, or may have."""
    found, engines = dict(nodes), {build.id: build.engine for build in plan.builds}
    for stage in sorted(plan.stages, key=lambda stage: stage.rank):
        above = found[stage.parent] if stage.parent else None
        inherited = above.why if above and above.action is Action.LEAVE else ""
        why = inherited or next(_lacking(stage, catalogues, engines), "")
        if why and found[stage.id].action in (Action.MEASURE, Action.RETRY):
            found[stage.id] = replace(found[stage.id], action=Action.LEAVE, why=why, times=0)
    return found


def _lacking(stage: PlannedStage, catalogues: Catalogues, engines: Mapping[str, str]) -> Iterator[str]:
    own = catalogues.get(stage.build)
    if own is None:
        return
    alike = engines.keys() & catalogues.keys() - {stage.build}
    others = [catalogues[build] for build in alike if engines[build] == engines[stage.build]]
    for step in stage.steps:
        for name, option in step.options.items():
            if option.unsupported == "cell" and name not in own and any(o is None or name in o for o in others):
                yield f"the build has no option {name}"
