"""Which machine does what, and how long that takes. Pure.

A group of jobs stays on one machine: what is compared with each other. Groups may begin from the same load, which is
made on each machine that has one of them. What is longest goes first, to where it ends first; then groups leave the
machine that is through last, as long as that makes it earlier. Builds are made first, by whoever is free.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

SWEEPS = 1000  # groups that are moved at most


class Job(NamedTuple):
    id: str
    title: str
    seconds: float
    parent: str | None = None  # the job whose database it begins from
    is_build: bool = False
    rank: int = 0


class Group(NamedTuple):
    """Jobs that are compared with each other, with those that they begin from."""

    name: str
    jobs: tuple[str, ...]


class Known(NamedTuple):
    """What is decided before, by machine from 0."""

    groups: Mapping[str, int] = {}  # by name: begun there, so they stay
    databases: Mapping[str, int] = {}  # of jobs that are done: what begins from them need not make them again there


class Placed(NamedTuple):
    job: Job
    machine: int  # from 0
    start: float
    again: bool = False  # made on another machine as well

    @property
    def end(self) -> float:
        return self.start + self.job.seconds


@dataclass(frozen=True, slots=True)
class Schedule:
    machines: int
    placed: tuple[Placed, ...]
    bound: float  # no schedule is shorter that keeps the groups together

    @property
    def seconds(self) -> float:
        return max((each.end for each in self.placed), default=0.0)

    @property
    def again(self) -> list[Placed]:
        return [each for each in self.placed if each.again]


@dataclass(slots=True)
class _Machine:
    jobs: Mapping[str, Job]
    busy: float = 0.0
    uses: dict[str, int] = field(default_factory=dict)  # job -> groups here that have it

    def more(self, group: Group) -> float:
        return sum(self.jobs[each].seconds for each in group.jobs if each not in self.uses)

    def add(self, group: Group) -> None:
        self.busy += self.more(group)
        for each in group.jobs:
            self.uses[each] = self.uses.get(each, 0) + 1

    def less(self, group: Group) -> float:
        return sum(self.jobs[each].seconds for each in group.jobs if self.uses[each] == 1)

    def remove(self, group: Group) -> None:
        self.busy -= self.less(group)
        for each in group.jobs:
            self.uses[each] -= 1
            if not self.uses[each]:
                del self.uses[each]


def schedule(jobs: Sequence[Job], groups: Sequence[Group], machines: int) -> Schedule:
    known = {job.id: job for job in jobs}
    builds = [job for job in jobs if job.is_build]
    made = _builds(builds, machines)
    there = _distributed(known, groups, machines, Known())
    begin = max((each.end for each in made), default=0.0)
    placed = [*made, *_placed(there, begin)]
    return Schedule(machines, tuple(placed), _bound(known, builds, groups, machines))


def distributed(jobs: Sequence[Job], groups: Sequence[Group], machines: int, known: Known) -> list[dict[str, int]]:
    """Of each machine: the jobs that its groups have, and how many of the groups have each."""
    there = _distributed({job.id: job for job in jobs}, groups, machines, known)
    done = known.databases
    return [{job: uses for job, uses in machine.uses.items() if job not in done} for machine in there]


def _builds(builds: Sequence[Job], machines: int) -> list[Placed]:
    free, found = [0.0] * machines, []
    for job in sorted(builds, key=lambda job: -job.seconds):
        at = min(range(machines), key=free.__getitem__)
        found.append(Placed(job, at, free[at]))
        free[at] += job.seconds
    return found


def _distributed(jobs: Mapping[str, Job], groups: Sequence[Group], machines: int, known: Known) -> list[_Machine]:
    """From two beginnings: each group by itself, and those that share a load together."""
    free = [group for group in groups if group.name not in known.groups]
    held = [group for group in groups if group.name in known.groups]
    single, families = [[group] for group in free], _families(free)
    ways = [_improved(_begun(jobs, held, machines, known), each) for each in (single, families)]
    return min(ways, key=lambda there: max(machine.busy for machine in there))


def _families(groups: Sequence[Group]) -> list[list[Group]]:
    """Of groups that have a job in common."""
    found: list[tuple[set[str], list[Group]]] = []
    for group in groups:
        own: tuple[set[str], list[Group]] = {*group.jobs}, [group]
        for other in [each for each in found if not each[0].isdisjoint(own[0])]:
            found.remove(other)
            own = own[0] | other[0], [*other[1], *own[1]]
        found.append(own)
    return [members for _, members in found]


def _begun(jobs: Mapping[str, Job], held: Sequence[Group], machines: int, known: Known) -> list[_Machine]:
    there = [_Machine(jobs) for _ in range(machines)]
    for job, at in known.databases.items():
        there[at].uses[job] = 1
    for group in held:
        there[known.groups[group.name]].add(group)
    return there


def _improved(there: list[_Machine], parts: Sequence[Sequence[Group]]) -> list[_Machine]:
    jobs = there[0].jobs
    where: dict[int, list[Group]] = {at: [] for at in range(len(there))}
    joined = [(Group("", tuple({each: None for group in part for each in group.jobs})), part) for part in parts]
    for whole, part in sorted(joined, key=lambda each: -sum(jobs[job].seconds for job in each[0].jobs)):
        at = min(range(len(there)), key=lambda at: there[at].busy + there[at].more(whole))
        for group in part:
            there[at].add(group)
            where[at].append(group)
    for _ in range(SWEEPS):
        if not _moved(there, where):
            break
    return there


def _moved(there: Sequence[_Machine], where: Mapping[int, list[Group]]) -> bool:
    """One group from the machine that is through last to one that is then through earlier than that was."""
    last = max(range(len(there)), key=lambda at: there[at].busy)
    best: tuple[float, Group, int] | None = None
    for group in where[last]:
        left = there[last].busy - there[last].less(group)
        for at in range(len(there)):
            if at != last:
                top = max(left, there[at].busy + there[at].more(group))
                if top < there[last].busy - 1e-9 and (best is None or top < best[0]):
                    best = top, group, at
    if best is None:
        return False
    _, group, at = best
    there[last].remove(group)
    where[last].remove(group)
    there[at].add(group)
    where[at].append(group)
    return True


def _placed(there: Sequence[_Machine], begin: float) -> list[Placed]:
    """On each machine in the order of the plan, in which a parent stands before what begins from it."""
    found, seen = [], set[str]()
    for at, machine in enumerate(there):
        now = begin
        for job in sorted((machine.jobs[each] for each in machine.uses), key=lambda job: job.rank):
            found.append(Placed(job, at, now, job.id in seen))
            seen.add(job.id)
            now += job.seconds
    return found


def _bound(jobs: Mapping[str, Job], builds: Sequence[Job], groups: Sequence[Group], machines: int) -> float:
    """After the builds: an equal share of the work; the longest group; as many groups as some machine must have."""
    first = max(max((job.seconds for job in builds), default=0.0), sum(job.seconds for job in builds) / machines)
    longest = max((sum(jobs[each].seconds for each in group.jobs) for group in groups), default=0.0)
    once = sum(jobs[each].seconds for each in {each for group in groups for each in group.jobs})
    return first + max(longest, once / machines, _fullest(jobs, groups, machines))


def _fullest(jobs: Mapping[str, Job], groups: Sequence[Group], machines: int) -> float:
    """Of the machine with most groups: at least the shortest ones' own jobs, and what one of them begins from."""
    uses = Counter(each for group in groups for each in group.jobs)
    own = sorted(sum(jobs[each].seconds for each in group.jobs if uses[each] == 1) for group in groups)
    shared = [sum(jobs[each].seconds for each in group.jobs if uses[each] > 1) for group in groups]
    return sum(own[: math.ceil(len(groups) / machines)]) + min(shared, default=0.0)
