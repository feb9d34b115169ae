"""A cluster: what is asked of its scheduler for the machines of specs, as a site file says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

HERE = "here"  # stands for a machine that the spec does not describe


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What a job asks for. None: what the node has, or what the cluster gives."""

    nodes: Sequence[str] = ()  # names; none: all of the partition
    partition: str | None = None
    constraint: str | None = None
    account: str | None = None
    qos: str | None = None
    time_limit: float | None = None  # seconds
    cpus: int | None = None
    memory: int | None = None  # bytes


@dataclass(frozen=True, slots=True)
class Slurm:
    machines: Mapping[str, JobRequest] = field(default_factory=dict)  # by the name of the machine in specs
    builds: JobRequest = field(default_factory=JobRequest)

    def of(self, machine: str, declared: bool) -> JobRequest | None:
        """Of a machine by its id in a plan; `hardware: here` has an id that nobody writes."""
        return self.machines.get(machine) or (None if declared else self.machines.get(HERE))
