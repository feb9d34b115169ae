"""Start a step's program as `launch:` asks: processors, memory nodes, allocator, memory, environment.

The program waits at a gate until all of it was looked up in /proc, so that no step is too short for the look.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid.host import sysfs
from stepgrid.host.processes import cgroup
from stepgrid.host.processes.supervision import exit_status
from stepgrid.model.plan import Command, Json
from stepgrid.model.records import Facts, LaunchRequest, replace
from stepgrid.model.secret_variables import hide_secrets

LIBRARIES = {
    "jemalloc": ("libjemalloc.so.2", "libjemalloc.so.1"),
    "tcmalloc": ("libtcmalloc.so.4", "libtcmalloc_minimal.so.4"),
}
PACKAGES = {"jemalloc": "libjemalloc2", "tcmalloc": "libgoogle-perftools4"}  # as Debian calls them
LIBRARY_FOLDERS = ("usr/local/lib", "usr/lib/*-linux-*", "usr/lib64", "usr/lib")
SCOPE = ("systemd-run", "--user", "--scope", "--quiet")
SESSION = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # by which systemd-run finds the user's systemd
NOT_LOADED = "cannot be preloaded"  # ld.so, on stderr: it goes on without

GATE_NAME = "stepgrid-gate"
# A shell that stops itself and then becomes the program, which keeps processors, policy and cgroup of the shell
GATE = ("/bin/sh", "-c", 'kill -STOP $$; exec "$@"', GATE_NAME)
GATE_SECONDS = 30.0  # to get there: systemd-run waits for the user's systemd, and the host may be busy
MAPPING_SECONDS = 2.0  # that the loader has to map an allocator
ENDED = "it ended before it was started"
_PAGE = os.sysconf("SC_PAGESIZE")


class LaunchError(Exception):
    """A request that this host cannot fulfil, and what to do about it."""


class LaunchPlan(Struct, frozen=True):
    command: Command
    record: Facts  # what was done, or left out
    memory: int | None = None  # the limit of the cgroup that it has to be put into: see cgroup.caged
    words: int = 0  # of the command's argv, which stand before the program
    gate: bool = False  # the program waits behind one

    @property
    def program(self) -> str:
        """The program itself, without what is put before it."""
        return self.command.argv[self.words]

    @property
    def scoped(self) -> bool:
        """Tell whether its memory is limited by a scope of systemd."""
        return bool(self.record.get("memory")) and self.memory is None

    @property
    def public_record(self) -> Facts:
        """The record without values of secrets."""
        variables = self.record.get("env")
        hidden: Facts = {"env": hide_secrets(variables)} if isinstance(variables, dict) else {}  # type: ignore[dict-item,arg-type]
        return {**self.record, **hidden}

    @property
    def argv(self) -> Sequence[str]:
        """The words that start it."""
        argv = tuple(self.command.argv)
        return (*argv[: self.words], *GATE, *argv[self.words :]) if self.gate else argv


def plan_launch(command: Command, request: LaunchRequest) -> LaunchPlan:
    prefix: list[str] = []
    record, env, memory = request.to_json(), dict(command.env), request.memory
    if memory and (scope := _systemd_scope(memory)):
        prefix += scope
        env |= {name: os.environ[name] for name in SESSION if name in os.environ}
        memory = None
    if request.numa:
        if numa_nodes() > 1:
            prefix += [_tool("numactl"), "--interleave=all"]
        else:
            record["numa"] = f"{request.numa}: left out, this host has one NUMA node"
    if request.cpus:
        prefix += [_tool("taskset", "util-linux"), "-c", request.cpus]
    env |= request.env
    if request.malloc:
        record["library"] = library = allocator_library(request.malloc)
        env["LD_PRELOAD"] = ":".join(filter(None, (library, env.get("LD_PRELOAD"))))
    command = replace(command, argv=(*prefix, *command.argv), env=env)
    return LaunchPlan(command, record, memory, len(prefix), gate=_is_verifiable(request))


def unloaded_allocator(request: LaunchRequest, stderr: Path) -> str | None:
    """Find the loader's warning that it cannot take an allocator: the figures would be those of another one."""
    if not request.malloc:
        return None
    with stderr.open(encoding="utf-8", errors="replace") as lines:
        warning = next((line.strip() for line in lines if NOT_LOADED in line), None)
    return f"{request.malloc} was not loaded: {warning}" if warning else None


def check_launch(pid: int, request: LaunchRequest, first: Callable[[], None] | None = None) -> dict[str, Json]:
    """Look up how a program at its gate is started, then open the gate. LaunchError: a request is not in force.

    `first`: what is done before, of a program that waits for it.
    """
    if first is None and not _is_verifiable(request):
        return {}
    if not _wait_at_gate(pid):
        if _has_ended(pid):  # it says why by its exit status
            return {"ended": ENDED}
        raise LaunchError(f"the program was not started within {GATE_SECONDS:g} s: what `launch` puts before it hangs")
    if complaint := launch_complaint(pid, request):
        raise LaunchError(complaint)
    state = launch_state(pid, request)
    if first:
        first()
    os.kill(pid, signal.SIGCONT)
    if request.malloc:
        _check_allocator(pid, request.malloc)
    return state


def launch_state(pid: int, request: LaunchRequest) -> dict[str, Json]:
    """Look up the things that were requested; None where /proc does not tell."""
    state: dict[str, Json] = {}
    if request.cpus:
        state["cpus"] = _status(pid, "Cpus_allowed_list")
    if request.numa and numa_nodes() > 1:
        state["numa"] = _memory_policy(pid)
    if request.malloc:
        state["malloc"] = _mapped_library(pid, request.malloc)
    if request.memory:
        state["memory"] = cgroup.memory_limit(pid)
    return state


def launch_complaint(pid: int, request: LaunchRequest) -> str | None:
    """Say which request is not in force first; None when all are."""
    state = launch_state(pid, request)
    complaints = (_complaint(name, getattr(request, name), value) for name, value in state.items())
    return next(filter(None, complaints), None)


def parse_processors(text: str) -> frozenset[int]:
    """Read a list such as 0-3,8 or 0-6:2, as taskset takes it."""
    ranges = re.findall(r"(\d+)(?:-(\d+))?(?::(\d+))?", text)
    return frozenset(
        number for first, last, step in ranges for number in range(int(first), int(last or first) + 1, int(step or 1))
    )


def format_processors(numbers: Iterable[int]) -> str:
    """List processors as the kernel does: 0-2,5."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def allocator_library(malloc: str) -> str:
    for name in LIBRARIES[malloc]:
        for folder in LIBRARY_FOLDERS:
            for path in sorted(sysfs.ROOT.glob(f"{folder}/{name}")):
                return str(path)
    raise LaunchError(f"`malloc: {malloc}`: there is no {LIBRARIES[malloc][0]} here; install {PACKAGES[malloc]}")


def numa_nodes() -> int:
    return sum(bool(re.fullmatch(r"node\d+", name)) for name in sysfs.names("sys/devices/system/node"))


def scope_refusal(scope: Sequence[str]) -> str:
    """Say why systemd gives no such scope; empty where it gives one."""
    try:
        result = subprocess.run([*scope, "true"], check=False, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (result.stderr.strip().splitlines() or ["no reason given"])[-1] if result.returncode else ""


def _systemd_scope(memory: int) -> Sequence[str]:
    """Ask for a cgroup that systemd gives where a user's services run; () where we can make one ourselves."""
    argv = [*SCOPE, f"--property=MemoryMax={memory}", "--property=MemorySwapMax=0", "--"]
    reason = scope_refusal(argv)
    if reason and not cgroup.can_limit():
        raise LaunchError(
            f"`memory: {memory}` needs a cgroup, which `systemd-run --user --scope` does not give ({reason}), and none "
            "may be made here; leave `memory` out, or run where systemd manages your session"
        )
    return () if reason else argv


def _tool(name: str, package: str = "") -> str:
    path = shutil.which(name)
    if not path:
        raise LaunchError(f"there is no {name} on PATH; install {package or name}")
    return path


def _is_verifiable(request: LaunchRequest) -> bool:
    return bool(request.cpus or request.numa or request.malloc or request.memory)


def _wait_at_gate(pid: int) -> bool:
    """Tell whether it stands at the gate; False: it ended before, or hangs."""
    until = time.monotonic() + GATE_SECONDS
    while time.monotonic() < until:
        result = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if result is not None:
            return result.si_code == os.CLD_STOPPED
        time.sleep(0.001)
    return False


def _complaint(name: str, requested: object, actual: Json) -> str | None:
    """Say that a request is not in force; None where it is."""
    if actual is None:
        missing = "its library is not mapped" if name == "malloc" else "/proc does not say so"
        return f"`{name}: {requested}` is not in force: {missing}"
    in_force: dict[str, Callable[[], bool]] = {
        "cpus": lambda: parse_processors(str(requested)) == parse_processors(str(actual)),
        "numa": lambda: str(actual).startswith(str(requested)),
        "memory": lambda: int(str(actual)) // _PAGE == int(str(requested)) // _PAGE,
    }
    if name not in in_force or in_force[name]():
        return None
    return f"`{name}: {requested}` is not in force: it has {actual}"


def _check_allocator(pid: int, malloc: str) -> None:
    """Wait until the program maps it: the shell at the gate has loaded it, which says nothing of the program."""
    until = time.monotonic() + MAPPING_SECONDS
    while not (_has_passed(pid) and _mapped_library(pid, malloc)):
        if _has_ended(pid):
            if exit_status(pid) == 0:  # a program that failed says so by its exit status
                raise LaunchError(
                    f"`malloc: {malloc}` cannot be verified: the program ended before its library was looked at"
                )
            return
        if time.monotonic() > until:
            raise LaunchError(f"`malloc: {malloc}` is not in force: its library is not mapped")
        time.sleep(0.002)


def _has_passed(pid: int) -> bool:
    """Tell whether the program has taken the shell's place."""
    try:
        return GATE_NAME.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return True


def _memory_policy(pid: int) -> str | None:
    """Read that of the stack: the program's own, where it did not choose another for a part of its memory."""
    lines = (sysfs.text(f"proc/{pid}/numa_maps") or "").splitlines()
    words = next((line.split() for line in lines if " stack" in line), lines[0].split() if lines else [])
    return words[1] if len(words) > 1 else None


def _mapped_library(pid: int, malloc: str) -> str | None:
    path = allocator_library(malloc)
    maps = sysfs.text(f"proc/{pid}/maps") or ""
    return path if str(Path(path).resolve()) in maps or path in maps else None


def _status(pid: int, key: str) -> str | None:
    match = re.search(rf"^{key}:\s*(.*)$", sysfs.text(f"proc/{pid}/status") or "", re.MULTILINE)
    return match[1] if match else None


def _has_ended(pid: int) -> bool:
    state = _status(pid, "State")
    return state is None or state.startswith(("Z", "X"))
