"""The environment of jobs that leave this machine for the nodes of a cluster."""

from __future__ import annotations

import os
import platform

ON = "STEPGRID_ON"  # set: jobs run on other machines than the one that started the run
PLAN = "STEPGRID_PLAN"  # the digest of the plan that the run compiled: a node would compile another
NODE = "cluster_node"  # in attempt.json: what the cluster calls the machine
SLURM_NODE = "SLURMD_NODENAME"
CLUSTER = "cluster"


def use(leaves: bool) -> None:
    """Set it for every job that this process starts from here on."""
    if leaves:
        os.environ[ON] = CLUSTER
    else:
        os.environ.pop(ON, None)
        os.environ.pop(PLAN, None)


def use_in_job() -> None:
    """Set it in the job itself, which an executor may have started without our environment."""
    os.environ[ON] = CLUSTER


def active() -> bool:
    return bool(os.environ.get(ON))


def tell_plan(digest: str) -> None:
    if active():
        os.environ[PLAN] = digest


def plan() -> str | None:
    return os.environ.get(PLAN) or None


def node() -> str:
    """This machine, as the cluster calls it."""
    return os.environ.get(SLURM_NODE) or short(platform.node())


def short(hostname: str) -> str:
    return hostname.partition(".")[0]
