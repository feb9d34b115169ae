"""Jobs of a run on nodes of a cluster, and what they ask of SLURM; the core never imports it, the Snakefile does."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from stepgrid.errors import FAILED
from stepgrid.host import cluster_job
from stepgrid.host.files import retry_stale
from stepgrid.model.plan import BUILD, Plan, PlannedCell, PlannedStage
from stepgrid.model.site import JobRequest, Slurm
from stepgrid.model.units import counted
from stepgrid.plan import plan_file
from stepgrid.plan.actions import choose_base
from stepgrid.store.attempts import attempt_record
from stepgrid.workflow import host_plan
from stepgrid.workflow.remaining_work import RemainingWork, work_of_job
from stepgrid.workflow.run_request import Refusal, plan_request, requested_plan, use_site

# Jobs


def leaves_host(workflow: Any) -> bool:
    """Guess whether jobs run elsewhere: Snakemake tells a Snakefile nothing of its executor yet.

    Default resources are for jobs that do."""
    return workflow.resource_settings.default_resources is not None


def remote_work(config: Mapping[str, object]) -> RemainingWork:
    """Read the plan of the run that started this job: the Snakefile is read again in each job."""
    cluster_job.use_in_job()
    use_site(config)
    store, digest = host_plan.store(), cluster_job.plan()
    if digest is None:  # an executor that leaves the environment behind
        return work_of_job(requested_plan(plan_request(config)), store)
    try:
        return work_of_job(retry_stale(lambda: plan_file.read(store.plan(digest))), store)
    except plan_file.DAMAGED as error:
        folder = store.plan(digest).absolute()
        sentence = f"this node does not see the plan of the run ({folder}: {error}): is the folder shared?"
        raise Refusal(sentence, FAILED) from None


Resource: TypeAlias = str | int
StageResources: TypeAlias = Mapping[str, Resource | Callable[[Any], Resource | None]]  # as Snakemake takes them
_RESOURCES = (
    "slurm_partition",
    "slurm_account",
    "constraint",
    "qos",
    "runtime",
    "mem_mb",
    "cpus_per_task",
    "slurm_extra",
)
CPUS = "SLURM_CPUS_ON_NODE"  # in a job: those of its allocation
TIMES, GRACE = 2, 1800  # a job may take twice its declared time and half an hour, with what it has to run again


class JobResources(Struct, frozen=True, dict=True):  # no slots: cached_property needs a dict
    """Resources that jobs ask of SLURM: a measured stage has its node to itself, builds share one.

    Empty where jobs run on this machine, and where the site file has no `slurm`."""

    work: RemainingWork
    slurm: Slurm | None
    inside: bool = False  # this process is in a job

    def checked(self) -> JobResources:
        """Raise a ClusterError where the scheduler lacks what the site file names, before anything is started."""
        if self._is_asking and self.work.lacking:
            _ = self.nodes, self.of_builds
        return self

    @property
    def _is_asking(self) -> bool:
        return cluster_job.active() and not self.inside and self.slurm is not None

    @cached_property
    def of_builds(self) -> Mapping[str, Resource]:
        """Half of a node, unless the site file says more."""
        if self.inside:
            return _allocation()
        if not self._is_asking or self.slurm is None:
            return {}
        request = self.slurm.builds
        smallest = min(list_nodes(request), key=lambda node: (node.cpus, node.memory))
        resources = {
            **_common(request),
            "cpus_per_task": request.cpus or max(1, smallest.cpus // 2),
            "mem_mb": smallest.memory // 2 if request.memory is None else request.memory >> 20,
        }
        return resources | ({"runtime": math.ceil(request.time_limit / 60)} if request.time_limit else {})

    @property
    def of_stages(self) -> StageResources:
        if self.inside:
            return _allocation()

        def resource(name: str) -> Callable[[Any], Resource | None]:
            return lambda wildcards: self._stage_resources(self.work.names[wildcards.stage]).get(name)

        return {name: resource(name) for name in _RESOURCES} if self._is_asking else {}

    def _stage_resources(self, stage: str) -> Mapping[str, Resource]:
        node = self.nodes.get(stage)
        if node is None:  # it has a result, and Snakemake was told to run it all the same
            return {}
        request = self._request(self.work.stages[stage].hardware)
        memory = node.memory if request.memory is None else request.memory >> 20
        resources = {
            **_common(request),
            "mem_mb": min(memory, node.memory),
            "cpus_per_task": node.cpus,
            "slurm_extra": f"--exclusive --nodelist={node.name}",
        }
        return resources | ({"runtime": limit} if (limit := self._minutes(stage, request)) else {})

    def _minutes(self, stage: str, request: JobRequest) -> int | None:
        """Limit the time of a stage together with those before it, which it may have to run again."""
        parts, ancestor = list[float | None](), stage
        while ancestor:
            parts.append(self._seconds(ancestor))
            ancestor = self.work.stages[ancestor].parent or ""
        expected = None if None in parts else TIMES * sum(part or 0.0 for part in parts) + GRACE
        limits = [limit for limit in (expected, request.time_limit) if limit]
        return math.ceil(min(limits) / 60) if limits else None

    def _seconds(self, stage: str) -> float:
        return self.work.status.nodes[stage].seconds or self.work.stages[stage].seconds

    @cached_property
    def nodes(self) -> Mapping[str, ClusterNode]:
        """Choose the node that measures each stage without a result."""
        stages_by_machine = defaultdict[str, list[str]](list)
        for stage in self.work.stages.keys() & self.work.lacking:
            stages_by_machine[self.work.stages[stage].hardware].append(stage)
        chosen: dict[str, ClusterNode] = {}
        for machine, stages in stages_by_machine.items():
            by_name = {node.name: node for node in list_nodes(self._request(machine))}
            remaining = {stage: self._seconds(stage) for stage in sorted(stages)}
            progress = Progress(remaining, self._nodes_of_results(machine))
            # one that is down now gets nothing new; what was begun on it waits for it
            usable = [name for name, node in by_name.items() if node.is_up or name in progress.measured.values()]
            placement = assign_nodes(self.work.plan, progress, usable or list(by_name))
            chosen |= {stage: by_name[name] for stage, name in placement.items()}
        return chosen

    @property
    def waiting(self) -> Iterator[str]:
        """Name each node that is down and has stages all the same."""
        lost = defaultdict[ClusterNode, list[str]](list)
        for stage, node in self.nodes.items() if self._is_asking else ():
            if not node.is_up:
                lost[node].append(stage)
        for node, stages in lost.items():
            yield (
                f"{node.name} is {node.state}: {counted(len(stages), 'stage')} will wait for it, since what they are "
                "compared with was measured there; without it in the site file's `nodes` they go to another"
            )

    def _nodes_of_results(self, machine: str) -> dict[str, str]:
        names = {}
        for stage, result in self.work.results.items():
            if self.work.stages[stage].hardware == machine:
                attempt = attempt_record(result)
                if name := attempt.cluster_node or attempt.hostname:
                    names[stage] = cluster_job.short(name)
        return names

    def _request(self, machine: str) -> JobRequest:
        is_declared = bool(self.work.plan.machines.get(machine, {}).get("declared"))
        return (self.slurm.job_request(machine, is_declared) if self.slurm else None) or JobRequest()


def _allocation() -> dict[str, Resource]:
    """Give the step that a job of SLURM starts all that the job has."""
    cpus = os.environ.get(CPUS, "")
    return {"cpus_per_task": int(cpus)} if cpus.isdecimal() else {}


def _common(request: JobRequest) -> dict[str, Resource]:
    resources = {
        "slurm_partition": request.partition,
        "slurm_account": request.account,
        "constraint": request.constraint,
        "qos": request.qos,
    }
    return {name: value for name, value in resources.items() if value}


# Nodes, as `sinfo` lists them

_FORMAT = "%N|%t|%c|%m|%f"
_SINFO_SECONDS = 30
_UP = re.compile(r"(idle|mix|alloc|comp|resv|plnd)\+?", re.ASCII)  # sinfo(1): any other node takes no job now
_FEATURE = re.compile(r"[\w.-]+", re.ASCII)


class ClusterError(Refusal):
    """A scheduler that does not answer, or lacks what the site file names."""

    def __init__(self, text: str) -> None:
        super().__init__(f"nothing was started: {text}", FAILED)


class ClusterNode(Struct, frozen=True):
    name: str
    state: str
    cpus: int
    memory: int  # MiB

    @property
    def is_up(self) -> bool:
        return _UP.fullmatch(self.state) is not None


def list_nodes(request: JobRequest) -> list[ClusterNode]:
    """List the nodes that a request may go to, once each, in the order of the site file or by name."""
    words = [f"--partition={request.partition}"] if request.partition else []
    words += [f"--nodes={','.join(request.nodes)}"] if request.nodes else []
    # SLURM decides about an expression of several features
    feature = request.constraint if request.constraint and _FEATURE.fullmatch(request.constraint) else None
    by_name = {}
    for line in _sinfo(words).splitlines():
        name, state, cpus, memory, features = line.strip().split("|", 4)
        if feature is None or feature in features.split(","):
            by_name[name] = ClusterNode(name, state, int(cpus), int(memory.rstrip("+")))
    if absent := [name for name in request.nodes if name not in by_name]:
        where = f" in the partition `{request.partition}`" if request.partition else ""
        raise ClusterError(f"SLURM has no node {', '.join(f'`{name}`' for name in absent)}{where}")
    if not by_name:
        raise ClusterError(f"SLURM has no node for what the site file asks for: {' '.join(words)}")
    return [by_name[name] for name in request.nodes or sorted(by_name)]


def _sinfo(words: Sequence[str]) -> str:
    argv = ["sinfo", "--Node", "--noheader", f"--format={_FORMAT}", *words]
    try:
        process = subprocess.run(argv, capture_output=True, text=True, timeout=_SINFO_SECONDS, check=False)
    except FileNotFoundError:
        raise ClusterError("there is no `sinfo` on PATH: start it where SLURM's commands are") from None
    except subprocess.TimeoutExpired:
        raise ClusterError(f"`sinfo` did not answer within {_SINFO_SECONDS} s: does slurmctld run?") from None
    if process.returncode:
        raise ClusterError(f"`sinfo` exited with status {process.returncode}: {process.stderr.strip()}")
    return process.stdout


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
