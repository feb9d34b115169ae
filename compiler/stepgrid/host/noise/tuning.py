"""`noise: fix`: sets what it may while a stage is measured, and puts it back, also for an owner that was killed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepgrid.host import sysfs
from stepgrid.host.noise import tuning_record
from stepgrid.host.noise.host_settings import SettingChange, changes
from stepgrid.model.site import Site


@dataclass(frozen=True, slots=True)
class TuningOutcome:
    """What was done, for the record."""

    done: tuple[SettingChange, ...] = ()
    refused: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        settings: dict[str, dict[str, Any]] = {}
        for change in self.done:
            each = settings.setdefault(change.setting, {"before": [], "after": change.wanted, "files": 0})
            each["before"] = sorted({*each["before"], change.before})
            each["files"] += 1
        return {"set": settings, **({"refused": list(self.refused)} if self.refused else {})}


@contextmanager
def fixed(lock: Path) -> Iterator[TuningOutcome]:
    """With the host lock held alone."""
    asked = changes()
    if not asked:
        yield TuningOutcome()
        return
    may = [change for change in asked if os.access(sysfs.ROOT / change.path, os.W_OK)]
    if refused := _not_kept(lock, may):
        yield TuningOutcome(refused=(refused,))
        return
    try:
        yield _apply(may, [change for change in asked if change not in may])
    finally:
        restore(lock)


def restore(lock: Path) -> tuple[list[str], list[str]]:
    """(files that were put back, what could not be). The record stays until nothing is left to do."""
    back, failed = [], []
    for file, value in reversed([*(tuning_record.left(lock) or {}).items()]):
        if error := _write(file, value):
            failed.append(f"/{file}: {error}")
        else:
            back.append(file)
    if not failed and tuning_record.kept(lock) is not None:
        tuning_record.drop(lock)
    return back, failed


def restore_left(lock: Path) -> None:
    """Whoever gets the host lock: what an owner that died has left. Who may not do it leaves it to who may."""
    with suppress(OSError):
        if tuning_record.is_there(lock) and (back := restore(lock)[0]):
            print(f"settings of a run that was killed are put back: {counted(back)}", file=sys.stderr, flush=True)


def refused(site: Site) -> str:
    """What `noise: fix` cannot do here, in a sentence; empty where nothing is asked for, or all of it can be done."""
    closed = [change.setting for change in changes() if not os.access(sysfs.ROOT / change.path, os.W_OK)]
    if site.noise != "fix" or not closed:
        return ""
    return f"noise: {', '.join(dict.fromkeys(closed))} may not be set here; `stepgrid doctor` shows the commands"


def counted(back: Sequence[str]) -> str:
    return f"{len(back)} file{'s' if len(back) != 1 else ''}, such as /{back[0]}"


def _not_kept(lock: Path, may: Sequence[SettingChange]) -> str:
    """Why nothing may be set: without a record nobody could put it back."""
    if tuning_record.is_there(lock):
        return (
            f"nothing was set: {tuning_record.path(lock)} is of a run that was killed: sudo stepgrid doctor --restore"
        )
    try:
        tuning_record.keep(lock, may)
    except OSError as error:
        return f"nothing was set: {tuning_record.path(lock)} cannot be written: {error.strerror}"
    return ""


def _apply(may: Sequence[SettingChange], refused: Sequence[SettingChange]) -> TuningOutcome:
    errors: Mapping[SettingChange, str] = {change: _set(change) for change in may}
    said = [f"{change.setting}: /{change.path} may not be written" for change in refused]
    said += [f"{change.setting}: /{change.path}: {error}" for change, error in errors.items() if error]
    return TuningOutcome(tuple(change for change, error in errors.items() if not error), tuple(said))


def _set(change: SettingChange) -> str:
    if error := _write(change.path, change.wanted):
        return error
    found = sysfs.chosen(change.path)
    return "" if found == change.wanted else f"it says {found} after {change.wanted} was written"


def _write(file: str, value: str) -> str:
    try:
        sysfs.write(file, value)
    except OSError as error:
        return error.strerror or str(error)
    return ""
