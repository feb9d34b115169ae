"""A child process from start to end: own process group, logs in files, a deadline, and no way to outlive us."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from resource import struct_rusage
from typing import NamedTuple

from msgspec import Struct

from stepgrid.host.processes.cgroup import ControlGroup
from stepgrid.host.processes.signals import MARK, die_with_parent
from stepgrid.model.plan import SYSTEM_PATH

INHERITED = ("HOME", "USER", "LOGNAME", "TMPDIR", MARK)  # of our environment: who runs it and where it may write
FIXED = {"LC_ALL": "C", "TZ": "UTC", "PATH": SYSTEM_PATH}  # whatever is in the user's shell
LONGEST_POLL = 1_000_000  # seconds that poll(2) can wait: 2^31 ms
TO_STOP = 5.0  # seconds between SIGTERM and SIGKILL
TO_VANISH = 60.0  # after SIGKILL: a process in the kernel's hands goes when its last write is through
LEAST_SUSPENSION = 0.5  # seconds: less is the time between two looks at the clocks

Watch = Callable[[int], None]


class MissingError(Exception):
    """The program is not there or cannot be executed."""


class User(NamedTuple):
    name: str
    uid: int
    gid: int
    inside: bool = False  # a namespace, instead of everywhere


class Program(Struct, frozen=True):
    """A program to start in a folder, with its output there. `user`: who it becomes; None: who we are."""

    argv: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    user: User | None = None
    cage: ControlGroup | None = None


class Companion(NamedTuple):
    """A child without which a program is pointless; one that the program ends is started again, once."""

    pid: int
    restart: Callable[[], int] | None = None  # return its new process


class ProcessEnd(Struct, frozen=True):
    """The end of a child; `exit` is the exit status, or minus the number of the signal that killed it."""

    exit: int
    overdue: bool
    started: str
    ended: str
    seconds: float
    user: float
    system: float
    max_rss: int  # bytes
    deserted: bool = False  # what it works with ended first, and so it was stopped
    halted: bool = False  # overdue, and in state T: somebody had stopped it
    suspended: float = 0.0  # seconds in which the host was, which `seconds` does not have
    waited: float = 0.0  # likewise seconds that the program waited for collectors, before it began
    out_of_memory: bool = False  # the kernel killed it, or a process that it started, for lack of memory


def environment(program: str, extra: Mapping[str, str]) -> dict[str, str]:
    """Pass on little of our environment: what is in someone's shell must not change a figure.

    The program is found by our PATH, and gets a fixed one behind its own folder.
    """
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**inherited, **FIXED, "PATH": _program_path(program), **extra}


def _program_path(program: str) -> str:
    """Put the folder of a program before those of the system, unless it is found there anyway."""
    path = program if "/" in program else shutil.which(program)
    if not path or shutil.which(Path(path).name, path=SYSTEM_PATH) == path:
        return SYSTEM_PATH
    return f"{Path(path).parent.absolute()}:{SYSTEM_PATH}"


def supervise(
    program: Program,
    deadline: float,
    started: Watch = lambda _pid: None,
    ending: Watch = lambda _pid: None,
    companion: Companion | None = None,
) -> ProcessEnd:
    """Run a program to its end; `started` and `ending` get the pid while the process can still be looked at."""
    start, start_time, suspension = time.monotonic(), datetime.now(UTC).isoformat(), _suspension()
    child = spawn(program)
    try:
        started(child.pid)
        first = _first_to_end(child.pid, deadline, companion)
        halted = first is None and is_halted(child.pid)
        if first != child.pid:
            stop(child.pid)
        seconds, end_time = time.monotonic() - start, datetime.now(UTC).isoformat()
        ending(child.pid)
    finally:
        kill(child.pid)  # of a process that ended well: whatever it left behind in its group
        status, usage = reap(child)
    suspension = _suspension() - suspension
    return ProcessEnd(
        status,
        first is None,
        start_time,
        end_time,
        seconds,
        usage.ru_utime,
        usage.ru_stime,
        usage.ru_maxrss * 1024,
        deserted=first not in (None, child.pid),
        halted=halted,
        suspended=suspension if suspension > LEAST_SUSPENSION else 0.0,
        out_of_memory=program.cage is not None and program.cage.ran_out,
    )


def _first_to_end(pid: int, seconds: float, companion: Companion | None) -> int | None:
    end = time.monotonic() + seconds
    first = wait(pid, seconds, companion.pid if companion else None)
    if companion and companion.restart and first == companion.pid:
        return wait(pid, end - time.monotonic(), companion.restart())
    return first


def _suspension() -> float:
    """Seconds that this host was suspended: one of the kernel's clocks goes on meanwhile, another does not."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def spawn(program: Program) -> subprocess.Popen[bytes]:
    user, folder = program.user, program.folder
    prepare = die_with_parent()  # last of all, since a change of user makes the kernel forget whose death is followed
    if user and user.inside:
        prepare = _entering_namespace(user, prepare)
    outside = user if user and not user.inside else None
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        try:
            return subprocess.Popen(
                list(program.argv),
                cwd=folder,
                env=dict(program.env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                process_group=0,
                preexec_fn=program.cage.joining(prepare) if program.cage else prepare,
                user=outside.uid if outside else None,
                group=outside.gid if outside else None,
                extra_groups=[] if outside else None,
            )
        except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
            raise MissingError(f"the program {program.argv[0]} cannot be started: {error.strerror}") from None


def wait(pid: int, seconds: float, companion: int | None = None) -> int | None:
    """Return which of the two has ended within that time, the first if both have; None: neither.

    It stays a zombie, so that its id and its counters are still there.
    """
    pids = {os.pidfd_open(child): child for child in (pid, companion) if child is not None}
    try:
        poll = select.poll()
        for descriptor in pids:
            poll.register(descriptor, select.POLLIN)
        end = time.monotonic() + seconds
        events: list[tuple[int, int]] = []
        while not events and (remaining := end - time.monotonic()) > LONGEST_POLL:
            events = poll.poll(LONGEST_POLL * 1000)
        ended = {pids[descriptor] for descriptor, _ in events or poll.poll(max(remaining, 0.0) * 1000)}
        return pid if pid in ended else next(iter(ended), None)
    finally:
        for descriptor in pids:
            os.close(descriptor)


def stop(pid: int, number: signal.Signals = signal.SIGTERM, patience: float = TO_STOP) -> bool:
    """Ask a process group to end, then make it; tell whether it went by itself."""
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
    if wait(pid, patience):
        return True
    kill(pid)
    wait(pid, TO_VANISH)
    return False


def kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def reap(child: subprocess.Popen[bytes]) -> tuple[int, struct_rusage]:
    """Fetch the exit status, or minus the number of the signal that killed it."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # else Popen warns, and waits for a pid that is no longer ours
    return child.returncode, usage


def exit_status(pid: int) -> int | None:
    """Look at a child's exit status, or minus the number of the signal, without fetching it; None while it runs."""
    result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    if result is None:
        return None
    return result.si_status if result.si_code == os.CLD_EXITED else -result.si_status


def is_halted(pid: int) -> bool:
    """Tell whether somebody stopped a process of this group, so that it can do nothing (state T)."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if entry.name.isdecimal():
                state, _, group, *_ = (entry / "stat").read_text().rpartition(") ")[2].split()
                if state == "T" and int(group) == pid:
                    return True
    return False


NOT_FOUND = 127  # of a shell or the loader: the program is there, and something that it starts or loads is not
_NOT_FOUND = (
    "a program or library that it needs was not found: programs get a fixed PATH and no LD_LIBRARY_PATH, "
    "`launch: {env: {PATH: …}}` gives others"
)
SIGNAL_CAUSES = {
    "SIGKILL": "by the kernel when memory runs out, or by someone",
    "SIGXFSZ": "a file grew beyond the limit of `ulimit -f`",
}


def describe_exit(status: int) -> str:
    """Say how something ended, for a sentence."""
    if status < 0:
        return f"was killed by {describe_signal(-status)}"
    return f"ended with exit status {status}{f' ({_NOT_FOUND})' if status == NOT_FOUND else ''}"


def describe_signal(number: int) -> str:
    """Name the signal, for a sentence, with what it usually means."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name} ({SIGNAL_CAUSES[name]})" if name in SIGNAL_CAUSES else name


# No server runs as root. As an ordinary user nothing changes. Where the unprivileged user cannot get at the files, the
# server stays who it is outside, and is that user inside a namespace: Postgres sees no root, the files are still ours.

UNPRIVILEGED = "nobody"
CLONE_NEWUSER = 0x10000000


class UnreachableError(Exception):
    """A folder that the user cannot enter: what to do about it."""


def server_user(paths: Iterable[Path]) -> User | None:
    """Choose who a server with these files is started as by root; None where we are an ordinary user ourselves."""
    if os.geteuid() != 0:
        return None
    import pwd

    try:
        entry = pwd.getpwnam(UNPRIVILEGED)
    except KeyError:
        raise UnreachableError(
            f"servers do not run as root, and there is no user {UNPRIVILEGED} here; run as an ordinary user"
        ) from None
    user = User(entry.pw_name, entry.pw_uid, entry.pw_gid)
    folder = next((folder for path in paths if (folder := closed_folder(user, path))), None)
    if folder is None:
        return user
    if can_enter_namespace(user):
        return user._replace(inside=True)
    raise UnreachableError(
        f"servers do not run as root, so this one would run as {user.name}, who cannot enter {folder}; use a folder "
        "that everyone may enter (`chmod o+x`, or `data` of a site file), or run as an ordinary user"
    )


def give_files(user: User | None, *trees: Path) -> None:
    """Give the server what it must write: a restored database is the runner's."""
    if user is None or user.inside:
        return
    for path in (path for tree in trees for path in (tree, *tree.rglob("*"))):
        if path.lstat().st_uid != user.uid:
            os.chown(path, user.uid, user.gid, follow_symlinks=False)


def closed_folder(user: User, path: Path) -> Path | None:
    """Find the first folder on the way that the user cannot pass."""
    for folder in reversed(path.absolute().parents):
        entry = folder.stat()
        bit = 0o100 if entry.st_uid == user.uid else 0o010 if entry.st_gid == user.gid else 0o001
        if not entry.st_mode & bit:
            return folder
    return None


@cache
def can_enter_namespace(user: User) -> bool:
    """Try it: containers and some hosts forbid it."""
    try:
        enter = _entering_namespace(user, lambda: None)
        return not subprocess.run(["true"], preexec_fn=enter, check=False).returncode
    except (OSError, subprocess.SubprocessError):
        return False


def _entering_namespace(user: User, follow: Callable[[], None]) -> Callable[[], None]:
    """Make a function for the child; `follow` comes last, since the kernel forgets a parent's death here."""
    import ctypes

    uid, gid = os.geteuid(), os.getegid()
    unshare = ctypes.CDLL(None, use_errno=True).unshare
    maps = {"setgroups": "deny", "gid_map": f"{user.gid} {gid} 1", "uid_map": f"{user.uid} {uid} 1"}

    def enter() -> None:
        if unshare(CLONE_NEWUSER):
            raise OSError(ctypes.get_errno(), "unshare")
        for name, text in maps.items():
            descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
        follow()

    return enter
