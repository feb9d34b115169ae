"""Alone on the host: what else goes on is looked at before a measured stage, and goes with its figures."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.host import devices
from stepgrid.host.host_check import OK, WARNING, Finding, unknown
from stepgrid.host.noise import activity, background_processes, host_settings, memory, timers, tuning_record
from stepgrid.host.noise.activity import OVERRIDE as OVERRIDE
from stepgrid.host.noise.activity import Activity, FirstReading, seconds
from stepgrid.host.noise.tuning import TuningOutcome, fixed
from stepgrid.host.processes import cgroup

SHORT = 0.15  # where nothing is seen, with a first reading from the start of the job: its imports fill most of it
LOOKS = 3  # what is over after a moment, such as the end of another measurement, disturbs no stage
FRESH = 2.0  # an older first reading is of a time in which another stage may have been measured


@contextmanager
def quiet(
    data: Path, device: str | None, lock: Path, fix: bool, measured: bool, first: FirstReading | None = None
) -> Iterator[Mapping[str, Any]]:
    """With the host lock held: settings are as they should be while the block runs, which gets a record."""
    with suppress(OSError):
        cgroup.sweep()
    with fixed(lock) if fix else nullcontext() as done:
        yield _record(_looked(data, device, lock, first), done) if measured and seconds() else {}


class Inspection(NamedTuple):
    seconds: float  # that were looked at
    findings: list[Finding]


def look(data: Path, device: str | None, lock: Path, first: FirstReading | None = None) -> Inspection:
    """What is seen in the time since a fresh first reading is looked at again, in a moment in which we do nothing."""
    name = devices.device(data, device)
    names = devices.members(name) if name else []
    if first and first.age < FRESH:
        found = _inspection(min(SHORT, seconds()), names, lock, first)
        if not warning(found.findings):
            return found
    for _ in range(LOOKS):
        found = _inspection(seconds(), names, lock)
        if not warning(found.findings):
            break
    return found


def _inspection(least: float, names: Sequence[str], lock: Path, first: FirstReading | None = None) -> Inspection:
    first = first or activity.first_reading(names)
    settings = [*memory.findings(names), *host_settings.findings(), _left(lock)]  # while the time passes
    seen = activity.observed(least, names, first)
    return Inspection(round(seen.seconds, 3), [*_at_work(seen, names), *settings])


def _at_work(seen: Activity, names: Sequence[str]) -> Iterator[Finding]:
    running = seen.last.found
    yield from activity.findings(seen, os.cpu_count() or 1, names)
    yield from background_processes.findings(running, [process for process, _ in seen.busy()])
    yield from timers.findings(running.values())


def _looked(data: Path, device: str | None, lock: Path, first: FirstReading | None = None) -> Inspection:
    """Watching is no reason for a stage to fail."""
    try:
        return look(data, device, lock, first)
    except Exception as error:
        return Inspection(0.0, [unknown("all", f"{type(error).__name__}: {error}")])


def warning(findings: Sequence[Finding]) -> str | None:
    """What a reader of the figures must know."""
    return "; ".join(_brief(each) for each in findings if each.travels) or None


def _brief(each: Finding) -> str:
    """A process id tells him nothing."""
    if isinstance(each.value, list):
        return f"{each.name}: {', '.join(dict.fromkeys(process['name'] for process in each.value))}"
    return re.sub(r" \(\d+\)", "", each.said)


def _record(found: Inspection, done: TuningOutcome | None) -> dict[str, Any]:
    noted: dict[str, Any] = {"seconds": found.seconds, "findings": [each.to_json() for each in found.findings]}
    if said := warning(found.findings):
        noted["warning"] = said
    return noted if done is None else {**noted, "fixed": done.to_json()}


def _left(lock: Path) -> Finding:
    """Only seen by who may not put it back: everybody else did when they got the lock."""
    owner = (tuning_record.kept(lock) or {}).get("pid")
    if owner == os.getpid() or not tuning_record.is_there(lock):
        return Finding("settings", OK, "none left changed by a killed run")
    found = dict(tuning_record.left(lock) or {})
    return Finding("settings", WARNING, "a killed run left them changed", found, "", "sudo stepgrid doctor --restore")
