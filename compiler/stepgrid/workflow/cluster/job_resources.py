"""What the jobs of a run ask of SLURM: a measured stage has its node to itself, builds share one."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from stepgrid.host import cluster_job, files
from stepgrid.model.plan import PlannedStage
from stepgrid.model.site import JobRequest, Slurm
from stepgrid.model.units import counted
from stepgrid.plan.fleet.assignment import Progress, assigned
from stepgrid.workflow.cluster.nodes import Node, nodes
from stepgrid.workflow.remaining_work import RemainingWork

Resource: TypeAlias = str | int
OfStages: TypeAlias = Mapping[
    str, Resource | Callable[[Any], Resource | None]
]  # as Snakemake's `resources:` takes them
_NAMES = ("slurm_partition", "slurm_account", "constraint", "qos", "runtime", "mem_mb", "cpus_per_task", "slurm_extra")
CPUS = "SLURM_CPUS_ON_NODE"  # in a job: those of its allocation
TIMES, GRACE = 2, 1800  # a job may take twice its declared time and half an hour, with what it has to run again


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class JobResources:
    """Empty where jobs run on this machine, and where the site file says nothing of SLURM."""

    work: RemainingWork
    slurm: Slurm | None
    inside: bool = False  # this process is in a job
    _nodes: dict[str, list[Node]] = field(default_factory=dict, repr=False, compare=False)

    def checked(self) -> JobResources:
        """A ClusterError where the scheduler has not what the site file says: before anything is started."""
        if self._asks and self.work.lacking:
            _ = self.nodes, self.of_builds
        return self

    @property
    def _asks(self) -> bool:
        return cluster_job.active() and not self.inside and self.slurm is not None

    @cached_property
    def of_builds(self) -> Mapping[str, Resource]:
        if self.inside:
            return _allocated()
        return _shared(self.slurm.builds) if self._asks and self.slurm else {}

    @property
    def of_stages(self) -> OfStages:
        if self.inside:
            return _allocated()
        return {name: self._function(name) for name in _NAMES} if self._asks else {}

    def _function(self, name: str) -> Callable[[Any], Resource | None]:
        return lambda wildcards: self._stage(self.work.names[wildcards.stage]).get(name)

    def _stage(self, stage: str) -> Mapping[str, Resource]:
        node = self.nodes.get(stage)
        if node is None:  # it has a result, and Snakemake was told to run it all the same
            return {}
        request = self._request(self.work.stages[stage])
        memory = node.memory if request.memory is None else request.memory >> 20
        asked = {
            **_common(request),
            "mem_mb": min(memory, node.memory),
            "cpus_per_task": node.cpus,
            "slurm_extra": f"--exclusive --nodelist={node.name}",
        }
        return asked | {"runtime": limit} if (limit := self._minutes(stage, request)) else asked

    def _minutes(self, stage: str, request: JobRequest) -> int | None:
        """With the stages before it, which it may have to run again for their database."""
        parts, each = list[float | None](), stage
        while each:
            parts.append(self.work.status.nodes[each].seconds or self.work.stages[each].seconds)
            each = self.work.stages[each].parent or ""
        known = None if None in parts else TIMES * sum(part or 0.0 for part in parts) + GRACE
        limits = [limit for limit in (known, request.time_limit) if limit]
        return math.ceil(min(limits) / 60) if limits else None

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """Stage that lacks a result -> the node that measures it."""
        found: dict[str, Node] = {}
        for machine, stages in self._by_machine.items():
            listed = self._listed(machine)
            progress = Progress(self._running(stages), self._measured(machine))
            by_name = {node.name: node for node in listed}
            # one that is down now gets nothing new; what was begun on it waits for it
            usable = [node.name for node in listed if node.is_up or node.name in progress.measured.values()]
            placed = assigned(self.work.plan, progress, usable or list(by_name))
            found |= {stage: by_name[name] for stage, name in placed.items()}
        return found

    @property
    def waiting(self) -> Iterator[str]:
        """A sentence for each node that is down and has stages all the same."""
        lost = defaultdict[Node, list[str]](list)
        for stage, node in self.nodes.items() if self._asks else ():
            if not node.is_up:
                lost[node].append(stage)
        for node, stages in lost.items():
            yield (
                f"{node.name} is {node.state}: {counted(len(stages), 'stage')} will wait for it, since what they are "
                "compared with was measured there; without it in the site file's `nodes` they go to another"
            )

    @cached_property
    def _by_machine(self) -> Mapping[str, Sequence[str]]:
        found = defaultdict[str, list[str]](list)
        for stage in self.work.stages.keys() & self.work.lacking:
            found[self.work.stages[stage].hardware].append(stage)
        return found

    def _running(self, stages: Sequence[str]) -> dict[str, float]:
        return {each: self.work.status.nodes[each].seconds or self.work.stages[each].seconds for each in sorted(stages)}

    def _measured(self, machine: str) -> dict[str, str]:
        """Stage with a result -> its node."""
        own = (stage for stage in self.work.results if self.work.stages[stage].hardware == machine)
        told = {stage: files.read_json(self.work.results[stage] / "attempt.json") for stage in own}
        names = {stage: said.get(cluster_job.NODE) or said.get("hostname") for stage, said in told.items()}
        return {stage: cluster_job.short(str(name)) for stage, name in names.items() if name}

    def _listed(self, machine: str) -> list[Node]:
        if machine not in self._nodes:
            self._nodes[machine] = nodes(self._of_machine(machine))
        return self._nodes[machine]

    def _request(self, stage: PlannedStage) -> JobRequest:
        return self._of_machine(stage.hardware)

    def _of_machine(self, machine: str) -> JobRequest:
        declared = bool(self.work.plan.machines.get(machine, {}).get("declared"))
        found = self.slurm.of(machine, declared) if self.slurm else None
        return found or JobRequest()


def _allocated() -> dict[str, Resource]:
    """In a job of SLURM: the step that it starts gets all that it was given."""
    cpus = os.environ.get(CPUS, "")
    return {"cpus_per_task": int(cpus)} if cpus.isdecimal() else {}


def _shared(request: JobRequest) -> dict[str, Resource]:
    """Half of a node unless the site file says what."""
    smallest = min(nodes(request), key=lambda node: (node.cpus, node.memory))
    cpus = request.cpus or max(1, smallest.cpus // 2)
    memory = smallest.memory // 2 if request.memory is None else request.memory >> 20
    found = {**_common(request), "cpus_per_task": cpus, "mem_mb": memory}
    return found | ({"runtime": math.ceil(request.time_limit / 60)} if request.time_limit else {})


def _common(request: JobRequest) -> dict[str, Resource]:
    said = {
        "slurm_partition": request.partition,
        "slurm_account": request.account,
        "constraint": request.constraint,
        "qos": request.qos,
    }
    return {name: value for name, value in said.items() if value}
