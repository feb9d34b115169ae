"""File locks between processes, users and checkouts: flock, so that the kernel frees them when a process dies."""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from stepgrid.errors import StepgridError

Waiting = Callable[[list[int]], None]


class LockBusy(StepgridError):
    """The lock is held by others, and the caller did not want to wait."""

    def __init__(self, holders: list[int]) -> None:
        super().__init__(f"held by {holders}")
        self.holders = holders


class LockFileError(OSError):
    """Something else is in the file's place: somebody else may have put it there."""

    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(f"the lock file `{path}` is {kind}{_owner(path)}: remove it")


@contextmanager
def locked(path: Path, *, shared: bool = False, wait: bool = True, waiting: Waiting | None = None) -> Iterator[None]:
    """Holds the lock while the block runs; `waiting` is told the holders before the first wait."""
    descriptor = _acquire(path, shared, wait, waiting)
    try:
        yield
    finally:
        os.close(descriptor)


def holders(path: Path) -> list[int]:
    """The processes that hold the lock, as far as the kernel tells us."""
    try:
        inode, lines = path.stat().st_ino, Path("/proc/locks").read_text().splitlines()
    except OSError:
        return []
    rows = [line.split() for line in lines if "->" not in line]
    found = {int(row[4]) for row in rows if row[1] == "FLOCK" and row[5].endswith(f":{inode}")}
    return sorted(pid for pid in found if pid > 0)  # 0: a process outside this container


def _acquire(path: Path, shared: bool, wait: bool, waiting: Waiting | None) -> int:
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        descriptor = _open(path)
        try:
            _lock(descriptor, path, kind, wait, waiting)
            if _same(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # someone removed the file meanwhile: its lock protects nothing


def _lock(descriptor: int, path: Path, kind: int, wait: bool, waiting: Waiting | None) -> None:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            raise LockBusy(holders(path)) from None
        if waiting:
            waiting(holders(path))
        fcntl.flock(descriptor, kind)


def _open(path: Path) -> int:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe would be waited for
    for _ in range(100):
        # without O_CREAT first: fs.protected_regular refuses it for another user's file in a sticky folder
        with suppress(FileNotFoundError, PermissionError):
            return _regular(path, flags)
        with suppress(FileExistsError):
            return _create(path, flags)
        time.sleep(0.01)  # its creator is about to set the mode
    return _regular(path, flags)


def _regular(path: Path, flags: int) -> int:
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


def _owner(path: Path) -> str:
    try:
        return f" of user {pwd.getpwuid(path.lstat().st_uid).pw_name}"
    except (KeyError, OSError):
        return ""


def _create(path: Path, flags: int) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
    with suppress(OSError):
        os.fchmod(descriptor, 0o666)  # whatever the umask: other users lock the same file
    return descriptor


def _same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


# Who it is that something waits for, as far as a person may know.

VERBS = {"stepgrid.run": "measures", "stepgrid.build": "builds"}


def described(pids: Iterable[int]) -> str:
    return " and ".join(map(_process, pids)) or "a process that cannot be seen from here"


def _process(pid: int) -> str:
    words = _words(pid)
    for module, verb in VERBS.items():
        if module in words:
            return f"process {pid}, which {verb} {words[-1]}{_where(pid)}"
    text = " ".join(" ".join(words).split())[:80]
    return f"process {pid} ({text})" if text else f"process {pid}"


def _words(pid: int) -> list[str]:
    try:
        return [os.fsdecode(word) for word in Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")]
    except OSError:
        return []


def _where(pid: int) -> str:
    """Another user's is not told."""
    try:
        folder = Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return " in another checkout"
    return " in this checkout" if folder == Path.cwd() else f" in {folder}"


# Which locks are held, and by whom: one look at what the kernel lists, which takes no lock and disturbs nobody.

LOCKS = Path("/proc/locks")


class HeldLock:
    def __init__(self) -> None:
        self._by_inode = _holders()

    def of(self, path: Path) -> tuple[int, ...]:
        try:
            return self._by_inode.get(path.stat().st_ino, ())
        except OSError:
            return ()

    def inside(self, folder: Path) -> dict[str, tuple[int, ...]]:
        """By the names of the lock files of a folder: those that are held."""
        if not self._by_inode:
            return {}
        try:
            with os.scandir(folder) as entries:
                found = {entry.name: self._by_inode.get(entry.inode(), ()) for entry in entries}
        except OSError:
            return {}
        return {name: pids for name, pids in found.items() if pids}


def _holders() -> Mapping[int, tuple[int, ...]]:
    found: dict[int, list[int]] = defaultdict(list)
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return {}
    for line in lines:
        words = line.split()
        if "->" not in words and words[1] == "FLOCK" and int(words[4]) > 0:  # -> waits; 0: outside this container
            found[int(words[5].rpartition(":")[2])].append(int(words[4]))
    return {inode: tuple(sorted(pids)) for inode, pids in found.items()}
