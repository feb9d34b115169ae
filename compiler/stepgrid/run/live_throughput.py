"""How fast a running step is, or what it waits for, where its kind can tell while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stepgrid.plugins.driver import LiveThroughput, LiveWait
from stepgrid.plugins.registry import driver


def readings(kind: str, folder: Path) -> Sequence[tuple[float, float]]:
    """(Seconds since the step's start, operations per second) of its newest intervals, oldest first."""
    try:
        found = driver(kind)
    except LookupError:  # of another version
        return ()
    return found.live(folder) if isinstance(found, LiveThroughput) else ()


def current(kind: str, folder: Path) -> float | None:
    """Of the newest whole interval; None while there is none, and of kinds that cannot tell."""
    found = readings(kind, folder)
    return found[-1][1] if found else None


def wait(kind: str, folder: Path) -> str:
    """What it waits for; empty of kinds that do not wait."""
    try:
        found = driver(kind)
    except LookupError:  # of another version
        return ""
    return found.waits_for(folder) if isinstance(found, LiveWait) else ""
