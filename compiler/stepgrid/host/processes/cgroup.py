"""A cgroup of a step's own: a limit to its memory, and a way to find what has left its process group."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from stepgrid.host.processes.cgroup_hierarchy import PROCESSES, V2, trees, words

NAME = "stepgrid"  # -NAMESPACE-PID-START-NUMBER: who made it, so that a dead owner's can be told
OOM = "oom_kill"
TO_END = 5.0  # seconds that killed processes have to be gone
_numbers = itertools.count()


@dataclass(slots=True)
class ControlGroup:
    """Without folders where none can be had: then there is only the process group."""

    folders: tuple[Path, ...] = ()
    doors: tuple[int, ...] = ()  # opened by us, since the child may have become another user
    slice: Path | None = None  # the folder above the scope that systemd made
    earlier_kills: int = 0  # in the slice

    def joining(self, first: Callable[[], None]) -> Callable[[], None]:
        """For the child, between fork and exec. Whether a limit holds is looked at afterwards: see in_force."""

        def join() -> None:
            first()
            for door in self.doors:
                with suppress(OSError):
                    os.write(door, b"0")

        return join if self.doors else first

    @property
    def ran_out(self) -> bool:
        """Whether the kernel killed something in it because there was no memory left."""
        in_slice = self.slice is not None and _kills(self.slice) > self.earlier_kills
        return in_slice or any(_kills(inner) for folder in self.folders for inner in (folder, *folder.rglob("*/")))

    def follow(self, pid: int) -> None:
        """Count kills where systemd put the child, by the folder above: a scope goes with its last process."""
        self.slice = next((tree.own.parent for tree in trees(pid) if tree.unified), None)
        self.earlier_kills = _kills(self.slice) if self.slice else 0

    def end(self) -> None:
        for door in self.doors:
            os.close(door)
        for folder in self.folders:
            _end(folder)


@contextmanager
def caged(memory: int | None = None) -> Iterator[ControlGroup]:
    """Whatever is in it when the block ends is killed. OSError: a limit is asked for and cannot be set."""
    cage = _opened((*(() if memory is None else (_limited(memory),)), *_plain()))
    try:
        yield cage
    finally:
        cage.end()


def can_limit() -> bool:
    return any(tree.hands_down(parent) for tree in trees() for parent in tree.parents())


def can_find() -> bool:
    return any(True for tree in trees() for _ in tree.parents())


def sweep() -> None:
    """What killed runners left, with all that is still in it."""
    for parent in {parent for tree in trees() for parent in tree.parents()}:
        for folder in parent.glob(f"{NAME}-*-*-*-*"):
            if _is_abandoned(folder.name):
                _end(folder)


def _opened(folders: tuple[Path, ...]) -> ControlGroup:
    return ControlGroup(folders, tuple(os.open(folder / PROCESSES, os.O_WRONLY | os.O_CLOEXEC) for folder in folders))


def _plain() -> tuple[Path, ...]:
    for tree in trees():
        for parent in tree.parents():
            with suppress(OSError):
                folder = _folder(parent)
                with suppress(OSError):
                    (folder / "cgroup.pressure").write_text("0")  # to count it would cost at every switch
                return (folder,)
    return ()


def _limited(memory: int) -> Path:
    for tree in trees():
        for parent in tree.parents():
            if tree.hands_down(parent):
                folder = _folder(parent)
                _limit(folder, tree.limits, memory)
                return folder
    raise PermissionError("no cgroup with a memory limit can be made here")


def _limit(folder: Path, files: tuple[str, ...], memory: int) -> None:
    """What does not fit must not go to swap: another device would be measured."""
    try:
        (folder / files[0]).write_text(str(memory))
        if (folder / files[1]).exists():
            (folder / files[1]).write_text("0" if files == V2 else str(memory))
    except OSError:
        _end(folder)
        raise


def _kills(folder: Path) -> int:
    """Count what each of the two kinds of cgroups counts."""
    tables = [words(folder / name) for name in ("memory.events", "memory.oom_control")]
    return sum(int(count) for table in tables for name, count in itertools.pairwise(table) if name == OOM)


def _folder(parent: Path) -> Path:
    folder = parent / f"{NAME}-{_namespace()}-{os.getpid()}-{_start(os.getpid())}-{next(_numbers)}"
    folder.mkdir()
    return folder


def _is_abandoned(name: str) -> bool:
    """Of a process of another namespace nobody here can tell."""
    namespace, pid, start, _ = name.removeprefix(f"{NAME}-").split("-", 3)
    return namespace == str(_namespace()) and pid.isdecimal() and start != _start(int(pid))


def _namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _start(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19]  # proc(5): 22
    except OSError:
        return "ended"


def _end(folder: Path) -> None:
    """Kills until nobody is left, since a process may fork meanwhile; then removes it."""
    until = time.monotonic() + TO_END
    while not _removed(folder) and time.monotonic() < until:
        _kill(folder)
        time.sleep(0.005)


def _kill(folder: Path) -> None:
    with suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
        return
    for inner in (folder, *folder.rglob("*/")):
        for pid in words(inner / PROCESSES):
            with suppress(OSError, ValueError):
                os.kill(int(pid), signal.SIGKILL)


def _removed(folder: Path) -> bool:
    for inner in sorted(folder.rglob("*/"), reverse=True):  # a program may have made some of its own
        with suppress(OSError):
            inner.rmdir()
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
