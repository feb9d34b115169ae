"""What a killed runner's programs left running: the kernel ends the programs with their runner, not their children."""

from __future__ import annotations

import json
import os
import platform
import signal
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from stepgrid.host import file_reader

MARK = "STEPGRID_RUNNING"  # in their environment: the attempt of a stage, for all that its job starts, daemons too
STARTED = "started"  # the journal's event that names a process group: of a step,
SERVER = "server started"  # of a server


_ROUNDS, _PAUSE = 100, 0.02  # between two looks: who was killed is gone by then, who was just forked is seen


def end(journal: Path, roots: Collection[Path]) -> None:
    """Kills who carries the attempt's mark, and who is in a process group of its journal, at work below the roots."""
    kill_marked(MARK, journal.parent)
    groups = set(_groups(journal)) if _is_of_this_host(journal.parent) else set()
    for pid in _processes() if groups else ():
        with suppress(OSError):
            if os.getpgid(pid) in groups and any(_works_below(pid, root.resolve()) for root in roots):
                os.kill(pid, signal.SIGKILL)


def _is_of_this_host(attempt: Path) -> bool:
    """Numbers of another host's processes are here somebody else's."""
    return str(file_reader.read(attempt / "attempt.json").get("hostname") or platform.node()) == platform.node()


def kill_marked(name: str, attempt: Path) -> None:
    """Kills whoever carries the attempt's path under that name, until nobody does."""
    mark = f"{name}={attempt.absolute()}".encode()
    for _ in range(_ROUNDS):
        found = [pid for pid in _processes() if _carries(pid, mark)]
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return
        time.sleep(_PAUSE)


def _carries(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it ended, or is another user's
        return False


def _groups(journal: Path) -> Iterator[int]:
    with suppress(OSError), journal.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):  # the last line may be half written
                event = json.loads(line)
                if event["event"] in (STARTED, SERVER):
                    yield int(event["pid"])


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _works_below(pid: int, root: Path) -> bool:
    """Its folder or an open file is there: the number alone may belong to somebody else by now."""
    about = Path(f"/proc/{pid}")
    return any(link.readlink().is_relative_to(root) for link in (about / "cwd", *(about / "fd").iterdir()))
