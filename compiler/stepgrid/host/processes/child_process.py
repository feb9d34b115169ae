"""A child process: started in a group of its own, waited for, stopped, fetched. It cannot outlive us."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from resource import struct_rusage

from stepgrid.host.processes.cgroup import ControlGroup
from stepgrid.host.processes.parent_death import die_with_parent
from stepgrid.host.processes.unprivileged_user import User
from stepgrid.host.processes.user_namespace import entering

LONGEST = 1_000_000  # seconds that poll(2) can wait: 2^31 ms


class MissingError(Exception):
    """The program is not there or cannot be executed."""


def spawn(
    argv: Sequence[str],
    env: Mapping[str, str],
    folder: Path,
    user: User | None = None,
    cage: ControlGroup | None = None,
) -> subprocess.Popen[bytes]:
    """In that folder, with its output there. `user`: who it becomes; None: who we are."""
    first = _first(user)
    becomes = user if user and not user.inside else None
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        try:
            return subprocess.Popen(
                list(argv),
                cwd=folder,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                process_group=0,
                preexec_fn=cage.joining(first) if cage else first,
                user=becomes.uid if becomes else None,
                group=becomes.gid if becomes else None,
                extra_groups=[] if becomes else None,
            )
        except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
            raise MissingError(f"the program {argv[0]} cannot be started: {error.strerror}") from None


def _first(user: User | None) -> Callable[[], None]:
    """Last of all, since a change of user makes the kernel forget whose death the child follows."""
    follow = die_with_parent()
    return entering(user.uid, user.gid, follow) if user and user.inside else follow


def wait(pid: int, seconds: float, beside: int | None = None) -> int | None:
    """Which of the two has ended within that time, the first if both have; None: neither.

    It stays a zombie, so that its id and its counters are still there.
    """
    descriptors = {os.pidfd_open(each): each for each in (pid, beside) if each is not None}
    try:
        poll = select.poll()
        for descriptor in descriptors:
            poll.register(descriptor, select.POLLIN)
        ready = {descriptors[descriptor] for descriptor, _ in _poll(poll, seconds)}
        return pid if pid in ready else next(iter(ready), None)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _poll(poll: select.poll, seconds: float) -> list[tuple[int, int]]:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > LONGEST:
        if found := poll.poll(LONGEST * 1000):
            return found
    return poll.poll(max(left, 0.0) * 1000)


def reap(child: subprocess.Popen[bytes]) -> tuple[int, struct_rusage]:
    """The exit status, or minus the number of the signal that killed it."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # else Popen warns, and waits for a pid that is no longer ours
    return child.returncode, usage


def halted(pid: int) -> bool:
    """Whether somebody stopped a process of this group, so that it can do nothing (state T)."""
    return any(state == "T" and group == pid for state, group in _states())


def _states() -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, IndexError):
            if entry.name.isdecimal():
                fields = (entry / "stat").read_text().rpartition(") ")[2].split()
                found.append((fields[0], int(fields[2])))
    return found


def how(status: int) -> str:
    """How something ended, for a sentence."""
    if status >= 0:
        return f"ended with exit status {status}"
    return f"was killed by {killed_by(-status)}"


def ended(pid: int) -> int | None:
    """Its exit status, or minus the number of the signal, without fetching it; None while it runs."""
    found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


MEANS = {
    "SIGKILL": "by the kernel when memory runs out, or by someone",
    "SIGXFSZ": "a file grew beyond the limit of `ulimit -f`",
}


def killed_by(number: int) -> str:
    """The signal, for a sentence, with what it usually means."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name} ({MEANS[name]})" if name in MEANS else name
