"""How a step's program is started, as `launch:` asks: processors, memory nodes, allocator, memory, environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stepgrid.host import sysfs
from stepgrid.host.processes import cgroup, launch_gate
from stepgrid.model.command import Command

LIBRARIES = {
    "jemalloc": ("libjemalloc.so.2", "libjemalloc.so.1"),
    "tcmalloc": ("libtcmalloc.so.4", "libtcmalloc_minimal.so.4"),
}
PACKAGES = {"jemalloc": "libjemalloc2", "tcmalloc": "libgoogle-perftools4"}  # as Debian calls them
PLACES = ("usr/local/lib", "usr/lib/*-linux-*", "usr/lib64", "usr/lib")
SCOPE = ("systemd-run", "--user", "--scope", "--quiet")
SESSION = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # by which systemd-run finds the user's systemd
NOT_LOADED = "cannot be preloaded"  # ld.so, on stderr: it goes on without


class LaunchError(Exception):
    """What this host cannot do, and what to do about it."""


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    command: Command
    record: Mapping[str, Any]  # what was done, or left out
    memory: int | None = None  # the limit of the cgroup that it has to be put into: see cgroup.caged
    words: int = 0  # of the command's argv, which stand before the program
    gate: bool = False  # the program waits behind one

    @property
    def scoped(self) -> bool:
        """Whether its memory is limited by a scope of systemd."""
        return bool(self.record.get("memory")) and self.memory is None

    @property
    def argv(self) -> Sequence[str]:
        """As it is started."""
        argv = tuple(self.command.argv)
        return (*argv[: self.words], *launch_gate.before(argv[self.words :])) if self.gate else argv


def launched(command: Command, asked: Mapping[str, Any]) -> LaunchPlan:
    prefix: list[str] = []
    record, env = dict(asked), dict(command.env)
    scope = _scope(int(asked["memory"])) if asked.get("memory") else ()
    if scope:
        prefix += scope
        env |= {name: os.environ[name] for name in SESSION if name in os.environ}
    if asked.get("numa"):
        many = nodes() > 1
        prefix += [_tool("numactl"), "--interleave=all"] if many else []
        record["numa"] = asked["numa"] if many else f"{asked['numa']}: left out, this host has one NUMA node"
    if asked.get("cpus"):
        prefix += [_tool("taskset", "util-linux"), "-c", str(asked["cpus"])]
    env |= {name: str(value) for name, value in (asked.get("env") or {}).items()}
    if asked.get("malloc"):
        record["library"] = library(str(asked["malloc"]))
        env["LD_PRELOAD"] = ":".join(filter(None, (record["library"], env.get("LD_PRELOAD"))))
    own = int(asked["memory"]) if asked.get("memory") and not scope else None
    command, gate = replace(command, argv=(*prefix, *command.argv), env=env), launch_gate.needed(asked)
    return LaunchPlan(command, record, own, len(prefix), gate)


def complaint(asked: Mapping[str, Any], stderr: Path) -> str | None:
    """The loader only warns when it cannot take an allocator: the figures would be those of another one."""
    if not asked.get("malloc"):
        return None
    with stderr.open(encoding="utf-8", errors="replace") as lines:
        said = next((line.strip() for line in lines if NOT_LOADED in line), None)
    return f"{asked['malloc']} was not loaded: {said}" if said else None


def library(malloc: str) -> str:
    for name in LIBRARIES[malloc]:
        for place in PLACES:
            for path in sorted(sysfs.ROOT.glob(f"{place}/{name}")):
                return str(path)
    raise LaunchError(f"`malloc: {malloc}`: there is no {LIBRARIES[malloc][0]} here; install {PACKAGES[malloc]}")


def nodes() -> int:
    return sum(bool(re.fullmatch(r"node\d+", name)) for name in sysfs.names("sys/devices/system/node"))


def _tool(name: str, package: str = "") -> str:
    found = shutil.which(name)
    if not found:
        raise LaunchError(f"there is no {name} on PATH; install {package or name}")
    return found


def _scope(memory: int) -> Sequence[str]:
    """A cgroup of one's own, which systemd gives where a user's services run; () where we can make one ourselves."""
    argv = [*SCOPE, f"--property=MemoryMax={memory}", "--property=MemorySwapMax=0", "--"]
    why = refused(argv)
    if why and not cgroup.can_limit():
        raise LaunchError(
            f"`memory: {memory}` needs a cgroup, which `systemd-run --user --scope` does not give ({why}), and none "
            "may be made here; leave `memory` out, or run where systemd manages your session"
        )
    return () if why else argv


def refused(scope: Sequence[str]) -> str:
    """Why there is no such scope; empty where there is one."""
    try:
        done = subprocess.run([*scope, "true"], check=False, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stderr.strip().splitlines() or ["no reason given"])[-1] if done.returncode else ""
