"""What a killed runner's programs left running: the kernel ends the programs with their runner, not their children."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from stepgrid.host.processes import process_marks
from stepgrid.store.store import Store

STARTED = "started"  # the journal's event that names a process group: of a step,
SERVER = "server started"  # of a server


def end(store: Store, journal: Path) -> None:
    """Kills whoever carries the attempt's mark, and who is in a process group of its journal, at work in this store."""
    process_marks.end(process_marks.MARK, journal.parent)
    groups, roots = set(_groups(journal)), {store.root.resolve(), store.data.resolve()}
    for pid in _processes() if groups else ():
        with suppress(OSError):
            if os.getpgid(pid) in groups and any(_works_below(pid, root) for root in roots):
                os.kill(pid, signal.SIGKILL)


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
