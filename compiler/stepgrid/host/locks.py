"""File locks between processes, users and checkouts: flock, so that the kernel frees them when a process dies.

One of them is the host lock: a measured stage has the host to itself, builds share it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pwd
import stat
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from stepgrid.errors import StepgridError
from stepgrid.host.files import open_regular
from stepgrid.host.terminal_output import visible
from stepgrid.model.records import HostUse, parse_record
from stepgrid.model.units import duration

HOST_LOCK = "stepgrid.host.lock"
HOST_LOCK_OVERRIDE = "STEPGRID_HOST_LOCK"
LOCKS = Path("/proc/locks")
ANNOUNCED = "STEPGRID_SCREEN"  # in the environment of jobs: the run that started them names whom they wait for

Waiting = Callable[[list[int]], None]


class LockBusy(StepgridError):
    """The lock is held by others, and the caller did not want to wait."""

    def __init__(self, holders: list[int]) -> None:
        super().__init__(f"held by {holders}")
        self.holders = holders


class LockFileError(StepgridError, OSError):
    """Something else is in the file's place: somebody else may have put it there."""

    def __init__(self, path: Path, kind: str, remedy: str = "remove it") -> None:
        try:
            owner = f" of user {pwd.getpwuid(path.lstat().st_uid).pw_name}"
        except (KeyError, OSError):
            owner = ""
        super().__init__(f"the lock file `{path}` is {kind}{owner}: {remedy}")


@contextmanager
def locked(path: Path, *, shared: bool = False, wait: bool = True, waiting: Waiting | None = None) -> Iterator[int]:
    """Hold the lock, a descriptor, while the block runs; `waiting` gets the holders before the first wait."""
    descriptor = _acquire(path, shared, wait, waiting)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class HeldLock:
    """The locks that are held now, and by whom: one look at what the kernel lists, which disturbs nobody."""

    def __init__(self) -> None:
        self._by_inode, self._waiting = _pids_by_inode()

    def of(self, path: Path) -> tuple[int, ...]:
        return _pids_of(path, self._by_inode)

    def waiting_for(self, path: Path) -> tuple[int, ...]:
        """List who waits for a lock, in the order in which the kernel wakes them."""
        return _pids_of(path, self._waiting)

    def inside(self, folder: Path) -> dict[str, tuple[int, ...]]:
        """Map the names of the lock files of a folder that are held to their holders."""
        if not self._by_inode:
            return {}
        try:
            with os.scandir(folder) as entries:
                holders = {entry.name: self._by_inode.get(entry.inode(), ()) for entry in entries}
        except OSError:
            return {}
        return {name: pids for name, pids in holders.items() if pids}


def lock_holders(path: Path) -> list[int]:
    """List the processes that hold a lock, as far as the kernel tells us."""
    return list(HeldLock().of(path))


PidsByInode = Mapping[int, tuple[int, ...]]


def _pids_of(path: Path, pids_by_inode: PidsByInode) -> tuple[int, ...]:
    try:
        return pids_by_inode.get(path.stat().st_ino, ())
    except OSError:
        return ()


def _pids_by_inode() -> tuple[PidsByInode, PidsByInode]:
    """Map lock files to those who hold them, and to those who wait for them, oldest first."""
    holders: dict[int, list[int]] = defaultdict(list)
    waiting: dict[int, list[int]] = defaultdict(list)
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return {}, {}
    for line in lines:
        pids, words = (waiting if "->" in line else holders), [word for word in line.split() if word != "->"]
        if words[1] == "FLOCK" and int(words[4]) > 0:  # 0: outside this container
            pids[int(words[5].rpartition(":")[2])].append(int(words[4]))
    return (
        {inode: tuple(sorted({*pids})) for inode, pids in holders.items()},
        {inode: tuple(dict.fromkeys(pids)) for inode, pids in waiting.items()},
    )


def _acquire(path: Path, shared: bool, wait: bool, waiting: Waiting | None) -> int:
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        descriptor = _open(path)
        try:
            try:
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if not wait:
                    raise LockBusy(lock_holders(path)) from None
                if waiting:
                    waiting(lock_holders(path))
                fcntl.flock(descriptor, kind)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # someone removed the file meanwhile: its lock protects nothing


def _open(path: Path) -> int:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe would be waited for
    for _ in range(100):
        # without O_CREAT first: fs.protected_regular refuses it for another user's file in a sticky folder
        with suppress(FileNotFoundError, PermissionError):
            return _open_regular(path, flags)
        with suppress(FileExistsError):
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
            with suppress(OSError):
                os.fchmod(descriptor, 0o666)  # whatever the umask: other users lock the same file
            return descriptor
        time.sleep(0.01)  # its creator is about to set the mode
    return _open_regular(path, flags)


def _open_regular(path: Path, flags: int) -> int:
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LockFileError(path, "a symbolic link") from None
        raise
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise LockFileError(path, "no regular file")


# Processes that something waits for, as far as a person may know them.

PIPELINE = "stepgrid.pipeline"  # in the command line of a job of a run
VERBS = {"run-stage": "measures", "build": "builds"}  # of the jobs of a run


def describe_processes(pids: Iterable[int]) -> str:
    return " and ".join(map(_describe_process, pids)) or "a process that cannot be seen from here"


def _describe_process(pid: int) -> str:
    try:
        words = [os.fsdecode(word) for word in Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")]
    except OSError:
        words = []
    for job, verb in VERBS.items():
        if PIPELINE in words and job in words:
            return f"process {pid}{_other_user(pid)}, which {verb} {_shorten(words[-1])}{_checkout(pid)}"
    text = _shorten(" ".join(words))
    return f"process {pid}{_other_user(pid)} ({text})" if text else f"process {pid}"


def _shorten(text: str, most: int = 80) -> str:
    """Make words of another process a part of a line, whatever they are."""
    return visible(" ".join(text.split()))[:most]


def _other_user(pid: int) -> str:
    """Name a process's user, where it is another one."""
    try:
        user = Path(f"/proc/{pid}").stat().st_uid
        return "" if user == os.getuid() else f" of {pwd.getpwuid(user).pw_name}"
    except (OSError, KeyError):
        return ""


def _checkout(pid: int) -> str:
    """Name a process's checkout, except that of another user."""
    try:
        folder = Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return " in another checkout"
    return " in this checkout" if folder == Path.cwd() else f" in {_shorten(str(folder), 300)}"


# The host lock.


@contextmanager
def host_lock(shared: bool, wait: bool = True, estimate: Callable[[], HostUse] | None = None) -> Iterator[None]:
    """Lock the host alone for measuring, shared for builds; say on stderr for whom it has to wait.

    `estimate`: how long it will be held, for those who wait."""
    from stepgrid.host.tuning import restore_abandoned  # not for those who only look at locks

    with locked(host_lock_path(), shared=shared, wait=wait, waiting=_announce) as descriptor:
        _refuse_foreign(host_lock_path(), descriptor)
        restore_abandoned(host_lock_path())  # nobody measures now
        if estimate:
            _write_use(descriptor, estimate())
        yield


def clear_up_host() -> None:
    """Clear up at the end of a run one of whose jobs was killed: it may be long until somebody comes after it."""
    from stepgrid.host.processes import cgroup

    with suppress(LockBusy, OSError), host_lock(shared=True, wait=False):
        cgroup.sweep()


def host_users() -> list[str]:
    """Describe who uses the host now, as far as the kernel tells."""
    return [describe_processes([pid]) for pid in lock_holders(host_lock_path())]


class HostWait(NamedTuple):
    """The process that holds the host, for one that waits, and how long it will take, if it said so."""

    text: str
    seconds: float | None = None


def host_wait(locks: HeldLock, pids: Container[int] = ()) -> HostWait | None:
    """Describe the wait of these processes: who holds the host, for how long, who is ahead; None: nobody holds it."""
    path = host_lock_path()
    holders = [pid for pid in locks.of(path) if pid not in pids]
    if not holders:
        return None
    ahead = [*takewhile(lambda pid: pid not in pids, locks.waiting_for(path))]
    text, use = describe_processes(holders), _read_use(path, holders)
    if use is None:
        text, seconds = f"{text}{_running_for(holders)}", None
    else:
        elapsed = max(time.time() - use.began, 0.0)
        seconds = None if use.seconds is None else max(use.seconds - elapsed, 0.0)
        text += f", for {duration(elapsed)}{'' if use.seconds is None else f' of about {duration(use.seconds)}'}"
        if use.run_seconds is not None:
            text += f"; all of its run: about {duration(max(use.run_seconds - elapsed, 0.0))} more"
    verb = "waits" if len(ahead) == 1 else "wait"
    return HostWait(f"{text}; {len(ahead)} {verb} ahead" if ahead else text, None if ahead else seconds)


def host_lock_path() -> Path:
    """Name the same file for every user and checkout of this host, where it has a folder for that."""
    if override := os.environ.get(HOST_LOCK_OVERRIDE):
        return Path(override)
    # /run/lock is for everyone on some distributions and root's on others; the choice must not depend on who asks
    common = Path("/run/lock")
    try:
        open_to_all = bool(common.stat().st_mode & stat.S_IWOTH)
    except OSError:
        open_to_all = False
    return (common if open_to_all else user_folder()) / HOST_LOCK


def user_folder() -> Path:
    """Choose a folder; not /tmp itself, where anybody may hold the lock, or put something else in its place."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    cache = Path(os.path.expanduser("~"), ".cache", "stepgrid")  # noqa: PTH111 - a user may have no home
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    for folder in (Path(runtime), cache) if runtime else (cache,):
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    folder = Path(f"/tmp/stepgrid-{os.getuid()}")  # of an account whose home cannot be written
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
        raise LockFileError(folder, "no folder of yours")
    return folder


def _announce(holders: list[int]) -> None:
    if ANNOUNCED not in os.environ:
        wait = host_wait(HeldLock()) or HostWait(describe_processes(holders))
        print(f"waiting for the host: {wait.text}", file=sys.stderr, flush=True)


# What the holder says of itself stands in the lock's file, which every user may write: it is read with bounds.

LONGEST_USE = 10 * 365 * 86400.0  # seconds
MOST_BYTES = 4096


def _refuse_foreign(path: Path, descriptor: int) -> None:
    """Refuse a file that has another name as well, or holds something else: it may be anybody's, and we write to it."""
    remedy = f"name another file by {HOST_LOCK_OVERRIDE}, or remove this one"
    if os.fstat(descriptor).st_nlink != 1:
        raise LockFileError(path, "a file with a second name (a hard link)", remedy)
    content = os.pread(descriptor, MOST_BYTES + 1, 0).strip(b"\0")  # a power cut may leave these
    if len(content) <= MOST_BYTES:
        if not content:
            return
        with suppress(ValueError):
            parse_record(content, HostUse)
            return
    raise LockFileError(path, "another file (its content is not stepgrid's)", remedy)


def _write_use(locked_file: int, use: HostUse) -> None:
    with suppress(OSError):  # of a file that may not be written: then nobody learns it
        descriptor = os.open(f"/proc/self/fd/{locked_file}", os.O_WRONLY | os.O_CLOEXEC)  # whatever has its name by now
        try:
            os.ftruncate(descriptor, 0)
            text = json.dumps(use.to_json()).encode()
            if os.write(descriptor, text) < len(text):  # the disk is full
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)


def _read_use(path: Path, holders: Sequence[int]) -> HostUse | None:
    """Read what the holder said; None where it said nothing, or nothing that can be."""
    try:
        descriptor = open_regular(path)
        try:
            use = parse_record(os.read(descriptor, MOST_BYTES), HostUse)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None
    times = [seconds for seconds in (use.seconds, use.run_seconds) if seconds is not None]
    is_possible = 0 < use.began < LONGEST_USE * 100 and all(0 <= seconds < LONGEST_USE for seconds in times)
    return use if is_possible and [use.pid] == [*holders] else None


def _running_for(holders: list[int]) -> str:
    """Say how old the processes are: the kernel does not tell when one took the lock."""
    ages = [age for pid in holders if (age := _age(pid)) is not None]
    return f", running for {duration(max(ages))}" if ages else ""


def _age(pid: int) -> float | None:
    """Count the seconds since a process began, as proc(5) has them."""
    try:
        start = int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19])
        return float(Path("/proc/uptime").read_text().split()[0]) - start / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
