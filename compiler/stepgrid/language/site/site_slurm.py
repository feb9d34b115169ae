"""The `slurm` of a site file: which nodes are the machines that specs name, and how they are asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from stepgrid.language.fields import Duration, Label, Model, Size
from stepgrid.language.problems import Problems
from stepgrid.model.cluster import JobRequest, Slurm

Bytes = Annotated[int, Field(gt=0), *Size.__metadata__]
Seconds = Annotated[float, Field(gt=0), *Duration.__metadata__]
_NODE = re.compile(r"[\w.-]+", re.ASCII)


class Request(Model):
    """What a job asks for; what is left out is what the node has, or the cluster gives."""

    nodes: list[Label] = Field([], description="names of nodes, one each: [n1, n2]; all of the partition if left out")
    partition: Label | None = None
    constraint: Label | None = Field(None, description="features that a node must have, as sbatch takes them")
    account: Label | None = None
    qos: Label | None = None
    time_limit: Seconds | None = Field(None, description="the longest that a job may ask for, as 12h")
    cpus: Annotated[int, Field(ge=1)] | None = Field(
        None, description="of a build; a measured stage has the whole node"
    )
    memory: Bytes | None = Field(None, description="as 60GiB; of a measured stage all of the node, if left out")


class SlurmEntry(Model):
    """How jobs are given to SLURM by `stepgrid run SPEC --on slurm`."""

    machines: dict[str, Request] = Field(description="name of `hardware` in specs, or `here` -> its nodes")
    builds: Request | None = Field(None, description="of builds, which share nodes")


def known(said: SlurmEntry, problems: Problems) -> Slurm:
    builds = [said.builds] if said.builds else []
    for request in (*said.machines.values(), *builds):
        _names(request, problems)
    return Slurm(_requests(said.machines), *map(_request, builds))


def _names(said: Request, problems: Problems) -> None:
    for node in said.nodes:
        if not _NODE.fullmatch(node):
            message = f"`nodes`: expected the name of one node, found `{node}`"
            hint = "list them: [n1, n2, n3]; `scontrol show hostnames` expands n[1-3]"
            problems.add("wrong-type", node.where, message, hint, len(node))


def _requests(said: Mapping[str, Request]) -> dict[str, JobRequest]:
    return {name: _request(each) for name, each in said.items()}


def _request(said: Request) -> JobRequest:
    return JobRequest(
        nodes=tuple(map(str, said.nodes)),
        partition=_text(said.partition),
        constraint=_text(said.constraint),
        account=_text(said.account),
        qos=_text(said.qos),
        time_limit=said.time_limit,
        cpus=said.cpus,
        memory=said.memory,
    )


def _text(said: Label | None) -> str | None:
    return None if said is None else str(said)
