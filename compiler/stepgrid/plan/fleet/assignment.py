"""Which node of a cluster measures which stage, so that what is compared with each other stays on one. Pure.

What was begun stays where it is; a load that was made on a node draws what begins from it there; the rest goes where
it ends first (`schedule`)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.plan.fleet.fleet_plan import Key, groups, keyed
from stepgrid.plan.fleet.schedule import Group, Job, Known, distributed


@dataclass(frozen=True, slots=True)
class Progress:
    """What the store says of the stages of one machine of the plan."""

    running: Mapping[str, float]  # stage that lacks a result -> seconds that it is expected to take
    measured: Mapping[str, str]  # stage with a result -> the node that measured it


def assigned(plan: Plan, found: Progress, nodes: Sequence[str]) -> dict[str, str]:
    """Stage that lacks a result -> node. Results of other nodes than these hold nothing."""
    here = {stage: nodes.index(node) for stage, node in found.measured.items() if node in nodes}
    jobs, listed = _work(plan, found)
    joined = _joined(_compared(plan))
    begun = {stage: at for stage in found.running for at in _places(joined[stage], here)}
    above = {job.id: here[job.id] for job in jobs if job.id in here}
    there = distributed(jobs, listed, len(nodes), Known(_held(listed, begun), above))
    return {stage: nodes[begun.get(stage, _place(joined[stage], there))] for stage in found.running}


def _work(plan: Plan, found: Progress) -> tuple[list[Job], list[Group]]:
    """What runs, with the stages that it begins from: where their databases are not, they run again."""
    stages = {stage.id: stage for stage in plan.stages}
    needed = dict.fromkeys([*found.running, *(each for stage in found.running for each in _above(stages, stage))])
    jobs = [Job(each, each, found.running.get(each, stages[each].seconds)) for each in needed]
    return jobs, [group for group in groups(plan, needed) if not found.running.keys().isdisjoint(group.jobs)]


def _above(stages: Mapping[str, PlannedStage], stage: str) -> Iterator[str]:
    parent = stages[stage].parent
    while parent is not None:
        yield parent
        parent = stages[parent].parent


def _compared(plan: Plan) -> Iterable[set[str]]:
    """Sets of stages: at one place in their cells, of one load, which the report compares."""
    found: dict[tuple[Key, int, int], set[str]] = defaultdict(set)
    for key, cell in keyed(plan):
        for repeat in cell.repeats:
            for place, stage in enumerate(repeat.stages):
                found[key, repeat.load, place].add(stage)
    return found.values()


def _joined(sets: Iterable[set[str]]) -> dict[str, frozenset[str]]:
    """Stage -> all in sets that overlap with its own, by however many steps."""
    found: dict[str, set[str]] = {}
    for each in sets:
        whole = each.union(*(found[stage] for stage in each if stage in found))
        found |= dict.fromkeys(whole, whole)
    return {stage: frozenset(whole) for stage, whole in found.items()}


def _places(members: frozenset[str], here: Mapping[str, int]) -> list[int]:
    """The machine that has most of their results, if one has any."""
    counted = Counter(here[each] for each in sorted(members) if each in here)
    return [at for at, _ in counted.most_common(1)]


def _held(listed: Sequence[Group], begun: Mapping[str, int]) -> dict[str, int]:
    """Groups that have a job of their own which was begun: a load that several share does not hold them."""
    uses = Counter(each for group in listed for each in group.jobs)
    found = dict[str, int]()
    for group in listed:
        own = [begun[each] for each in group.jobs if each in begun and uses[each] == 1]
        found |= {group.name: own[0]} if own else {}
    return found


def _place(members: frozenset[str], there: Sequence[Mapping[str, int]]) -> int:
    """Where most of what they belong to is."""
    return max(range(len(there)), key=lambda at: sum(there[at].get(each, 0) for each in members))
