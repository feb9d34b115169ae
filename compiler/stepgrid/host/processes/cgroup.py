"""Cgroups: a step has its own, which limits its memory and holds what has left its process group."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from stepgrid.host import sysfs

NAME = "stepgrid"  # -NAMESPACE-PID-START-NUMBER: its owner, so that a dead one is recognized
PROCESSES = "cgroup.procs"
V1 = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
V2 = ("memory.max", "memory.swap.max")
KILL_SECONDS = 5.0  # that killed processes have to be gone
_numbers = itertools.count()


class ControlGroup(Struct):
    """A step's cgroups; without folders where none can be made: then there is only the process group."""

    folders: tuple[Path, ...] = ()
    doors: tuple[int, ...] = ()  # opened by us, since the child may have become another user
    slice: Path | None = None  # the folder above the scope that systemd made
    earlier_kills: int = 0  # in the slice

    def joining(self, prepare: Callable[[], None]) -> Callable[[], None]:
        """Make a function for the child, between fork and exec. Whether a limit holds is checked by `check_launch`."""

        def join() -> None:
            prepare()
            for door in self.doors:
                with suppress(OSError):
                    os.write(door, b"0")

        return join if self.doors else prepare

    @property
    def ran_out(self) -> bool:
        """Tell whether the kernel killed a process in it because there was no memory left."""
        if self.slice is not None and _oom_kills(self.slice) > self.earlier_kills:
            return True
        return any(_oom_kills(inner) for folder in self.folders for inner in (folder, *folder.rglob("*/")))

    def follow(self, pid: int) -> None:
        """Count kills where systemd put the child, by the folder above: a scope goes with its last process."""
        self.slice = next((tree.folder.parent for tree in trees(pid) if tree.unified), None)
        self.earlier_kills = _oom_kills(self.slice) if self.slice else 0

    def end(self) -> None:
        for door in self.doors:
            os.close(door)
        for folder in self.folders:
            _end(folder)


class GroupTree(NamedTuple):
    """A hierarchy of cgroups, of either version."""

    folder: Path  # the process's own in it
    limits: tuple[str, ...]  # the files of a memory limit, and of one with swap; () of one that has none
    unified: bool

    def parents(self) -> Iterator[Path]:
        """List where a folder beside or below the process's own may be made."""
        yield from (parent for parent in (self.folder, self.folder.parent) if may_join(parent))

    def hands_down(self, parent: Path) -> bool:
        """A folder of the unified tree has limits where its parent says so, which one with processes may not."""
        return bool(self.limits) and (not self.unified or "memory" in _words(parent / "cgroup.subtree_control"))


@contextmanager
def caged(memory: int | None = None) -> Iterator[ControlGroup]:
    """Kill whatever is in the cgroup when the block ends. OSError: a memory limit cannot be set."""
    folders = (*(() if memory is None else (_make_limited(memory),)), *_make_plain())
    doors = tuple(os.open(folder / PROCESSES, os.O_WRONLY | os.O_CLOEXEC) for folder in folders)
    cage = ControlGroup(folders, doors)
    try:
        yield cage
    finally:
        cage.end()


def can_limit() -> bool:
    return any(tree.hands_down(parent) for tree in trees() for parent in tree.parents())


def can_find() -> bool:
    return any(True for tree in trees() for _ in tree.parents())


def sweep() -> None:
    """Remove what killed runners left, with all processes in it."""
    namespace = str(_namespace())
    for parent in {parent for tree in trees() for parent in tree.parents()}:
        for folder in parent.glob(f"{NAME}-*-*-*-*"):
            owner_namespace, pid, start, _ = folder.name.removeprefix(f"{NAME}-").split("-", 3)
            # nobody here can tell of a process of another namespace
            if owner_namespace == namespace and pid.isdecimal() and start != _start_time(int(pid)):
                _end(folder)


def memory_limit(pid: int) -> int | None:
    """Read the limit of the cgroup that a process is in, in bytes; None where there is none."""
    for tree in trees(pid):
        words = _words(tree.folder / tree.limits[0]) if tree.limits else []
        if words and words[0].isdecimal():
            return int(words[0])
    return None


def trees(pid: int | None = None) -> list[GroupTree]:
    """List the unified tree first, since it can kill all of a cgroup at once; trees with limits before the others."""
    rows = [line.split(":", 2) for line in (sysfs.text(f"proc/{pid or 'self'}/cgroup") or "").splitlines()]
    paths = {row[1]: row[2] for row in rows if len(row) == 3}  # by controllers; "": the unified tree
    lines = (sysfs.text("proc/self/mountinfo") or "").splitlines()
    mounted = [tree for line in lines if (tree := _mounted_tree(line, paths))]
    return sorted(mounted, key=lambda tree: (not tree.unified, not tree.limits))


def _mounted_tree(line: str, paths: Mapping[str, str]) -> GroupTree | None:
    mount, _, filesystem = line.partition(" - ")
    (_, _, _, root, point, *_), (kind, *_, options) = mount.split(), filesystem.split()
    unified, controllers = kind == "cgroup2", set(options.split(","))
    if kind not in ("cgroup", "cgroup2") or "cpuset" in controllers:  # nobody gets into a new one of these
        return None
    name = "" if unified else next((name for name in paths if name and set(name.split(",")) <= controllers), None)
    path = None if name is None else paths.get(name)
    if path is None:
        return None
    below = os.path.relpath(path, root) if Path(path).is_relative_to(root) else "."  # a container sees a part of it
    folder = Path(os.path.normpath(sysfs.ROOT / point.lstrip("/") / below))
    return GroupTree(folder, V2 if unified else V1 if "memory" in controllers else (), unified)


def may_join(parent: Path) -> bool:
    """A process moves only where the common parent may be written, too."""
    return os.access(parent, os.W_OK | os.X_OK) and os.access(parent / PROCESSES, os.W_OK)


def _make_limited(memory: int) -> Path:
    """Make a folder with a limit. What does not fit must not go to swap: another device would be measured."""
    for tree in trees():
        for parent in filter(tree.hands_down, tree.parents()):
            folder = _make_folder(parent)
            limit, swap_limit = (folder / name for name in tree.limits)
            try:
                limit.write_text(str(memory))
                if swap_limit.exists():
                    swap_limit.write_text("0" if tree.limits == V2 else str(memory))
            except OSError:
                _end(folder)
                raise
            return folder
    raise PermissionError("no cgroup with a memory limit can be made here")


def _make_plain() -> tuple[Path, ...]:
    for parent in (parent for tree in trees() for parent in tree.parents()):
        with suppress(OSError):
            folder = _make_folder(parent)
            with suppress(OSError):
                (folder / "cgroup.pressure").write_text("0")  # to count it would cost at every switch
            return (folder,)
    return ()


def _make_folder(parent: Path) -> Path:
    folder = parent / f"{NAME}-{_namespace()}-{os.getpid()}-{_start_time(os.getpid())}-{next(_numbers)}"
    folder.mkdir()
    return folder


def _namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _start_time(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19]  # proc(5): 22
    except OSError:
        return "ended"


def _oom_kills(folder: Path) -> int:
    """Count what each of the two kinds of cgroups counts."""
    tables = [_words(folder / name) for name in ("memory.events", "memory.oom_control")]
    return sum(int(count) for table in tables for name, count in itertools.pairwise(table) if name == "oom_kill")


def _end(folder: Path) -> None:
    """Kill until nobody is left, since a process may fork meanwhile; then remove the folder."""
    until = time.monotonic() + KILL_SECONDS
    while not _remove(folder) and time.monotonic() < until:
        _kill(folder)
        time.sleep(0.005)


def _kill(folder: Path) -> None:
    with suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
        return
    for inner in (folder, *folder.rglob("*/")):
        for pid in _words(inner / PROCESSES):
            with suppress(OSError, ValueError):
                os.kill(int(pid), signal.SIGKILL)


def _remove(folder: Path) -> bool:
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


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
