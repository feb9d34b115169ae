"""A perf that was started for processes that run: whether it looks at them yet."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from stepgrid.host import sysfs

EVENT = "anon_inode:[perf_event]"


def attached(pid: int) -> bool:
    """It has opened its events, of which each takes a while, and sleeps until there is something to write down."""
    state = (sysfs.text(f"proc/{pid}/stat") or "").rpartition(") ")[2][:1]
    return state == "S" and any(_targets(pid))


def _targets(pid: int) -> list[bool]:
    found: list[bool] = []
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.append(str(descriptor.readlink()) == EVENT)
    return found
