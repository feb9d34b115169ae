"""Alone on the host: what else goes on is looked at before a measured stage, and goes with its figures."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from stepgrid.host import devices
from stepgrid.host.host_check import OK, WARNING, Finding, unknown
from stepgrid.host.noise import activity, background_processes, host_settings, memory, timers, tuning_record
from stepgrid.host.noise.tuning import TuningOutcome, fixed
from stepgrid.host.processes import cgroup

LOOK = 0.2  # seconds: it is part of what a run takes beside its steps (bench/overhead.py)
OVERRIDE = "STEPGRID_LOOK"  # of the tests


@contextmanager
def quiet(data: Path, device: str | None, lock: Path, fix: bool, measured: bool) -> Iterator[Mapping[str, Any]]:
    """With the host lock held: settings are as they should be while the block runs, which gets a record."""
    with suppress(OSError):
        cgroup.sweep()
    with fixed(lock) if fix else nullcontext() as done:
        yield _record(_looked(data, device, lock), done) if measured and seconds() else {}


def look(data: Path, device: str | None, lock: Path) -> list[Finding]:
    """Takes a moment, in which nothing of ours works."""
    name = devices.device(data, device)
    names = devices.members(name) if name else []
    seen = activity.observed(seconds(), names)
    running = seen.last.found
    return [
        *activity.findings(seen, os.cpu_count() or 1, names),
        *background_processes.findings(running, [process for process, _ in seen.busy()]),
        *memory.findings(names),
        *host_settings.findings(),
        *timers.findings(running.values()),
        _left(lock),
    ]


def _looked(data: Path, device: str | None, lock: Path) -> list[Finding]:
    """Watching is no reason for a stage to fail."""
    try:
        return look(data, device, lock)
    except Exception as error:
        return [unknown("all", f"{type(error).__name__}: {error}")]


def seconds() -> float:
    """How long is looked; 0: not at all."""
    return float(os.environ.get(OVERRIDE) or LOOK)


def warning(findings: Sequence[Finding]) -> str | None:
    """What a reader of the figures must know."""
    return "; ".join(_brief(each) for each in findings if each.travels) or None


def _brief(each: Finding) -> str:
    """A process id tells him nothing."""
    if isinstance(each.value, list):
        return f"{each.name}: {', '.join(dict.fromkeys(process['name'] for process in each.value))}"
    return re.sub(r" \(\d+\)", "", each.said)


def _record(findings: Sequence[Finding], done: TuningOutcome | None) -> dict[str, Any]:
    noted: dict[str, Any] = {"seconds": seconds(), "findings": [each.to_json() for each in findings]}
    if said := warning(findings):
        noted["warning"] = said
    return noted if done is None else {**noted, "fixed": done.to_json()}


def _left(lock: Path) -> Finding:
    """Only seen by who may not put it back: everybody else did when they got the lock."""
    owner = (tuning_record.kept(lock) or {}).get("pid")
    if owner == os.getpid() or not tuning_record.is_there(lock):
        return Finding("settings", OK, "none left changed by a killed run")
    found = dict(tuning_record.left(lock) or {})
    return Finding("settings", WARNING, "a killed run left them changed", found, "", "sudo stepgrid doctor --restore")
