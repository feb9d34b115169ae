"""The nodes of a cluster, as `sinfo` tells of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from stepgrid.errors import FAILED
from stepgrid.model.site import JobRequest
from stepgrid.workflow.run_request import Fault

_FORMAT = "%N|%t|%c|%m|%f"
_SECONDS = 30
_UP = re.compile(r"(idle|mix|alloc|comp|resv|plnd)\+?", re.ASCII)  # sinfo(1): any other node takes no job now
_FEATURE = re.compile(r"[\w.-]+", re.ASCII)


class ClusterError(Fault):
    """The scheduler could not be asked, or has not what the site file names."""

    def __init__(self, text: str) -> None:
        super().__init__(f"nothing was started: {text}", FAILED)


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    state: str
    cpus: int
    memory: int  # MiB

    @property
    def is_up(self) -> bool:
        return _UP.fullmatch(self.state) is not None


def nodes(request: JobRequest) -> list[Node]:
    """Those that a request may go to, each once, in the order of the site file or by name."""
    found = {node.name: node for node in _read(_asked(request), request.constraint)}
    if absent := [name for name in request.nodes if name not in found]:
        where = f" in the partition `{request.partition}`" if request.partition else ""
        raise ClusterError(f"SLURM has no node {', '.join(f'`{name}`' for name in absent)}{where}")
    if not found:
        raise ClusterError(f"SLURM has no node for what the site file asks for: {' '.join(_asked(request)[4:])}")
    return [found[name] for name in request.nodes] or [found[name] for name in sorted(found)]


def _asked(request: JobRequest) -> list[str]:
    argv = ["sinfo", "--Node", "--noheader", f"--format={_FORMAT}"]
    argv += [f"--partition={request.partition}"] if request.partition else []
    return argv + ([f"--nodes={','.join(request.nodes)}"] if request.nodes else [])


def _read(argv: list[str], constraint: str | None) -> Iterator[Node]:
    """`constraint`: a single feature is looked for here; of others SLURM decides."""
    wanted = constraint if constraint and _FEATURE.fullmatch(constraint) else None
    for line in _said(argv).splitlines():
        name, state, cpus, memory, features = line.strip().split("|", 4)
        if wanted is None or wanted in features.split(","):
            yield Node(name, state, int(cpus), int(memory.rstrip("+")))


def _said(argv: list[str]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except FileNotFoundError:
        raise ClusterError("there is no `sinfo` on PATH: start it where SLURM's commands are") from None
    except subprocess.TimeoutExpired:
        raise ClusterError(f"`sinfo` did not answer within {_SECONDS} s: does slurmctld run?") from None
    if done.returncode:
        raise ClusterError(f"`sinfo` exited with status {done.returncode}: {done.stderr.strip()}")
    return done.stdout
