"""Settings of a host that make figures differ, and `noise: fix`, which sets them while a stage is measured.

It puts them back, also for an owner that was killed: a record of what was there lies beside the host lock. The owner
holds the lock alone as long as the record exists. So whoever holds it, and is not the owner, knows that the owner is
gone; no process id is trusted.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.host import sysfs
from stepgrid.host.counters import CPUS
from stepgrid.host.files import sync
from stepgrid.host.host_check import OK, WARNING, Finding, unknown
from stepgrid.model.site import Site

GOVERNORS = (f"{CPUS}/cpufreq/policy*/scaling_governor", f"{CPUS}/cpu[0-9]*/cpufreq/scaling_governor")
NO_TURBO, BOOST = f"{CPUS}/intel_pstate/no_turbo", f"{CPUS}/cpufreq/boost"
THP = "sys/kernel/mm/transparent_hugepage/enabled"
ASLR, SMT = "proc/sys/kernel/randomize_va_space", f"{CPUS}/smt/control"
BOOT = "proc/sys/kernel/random/boot_id"  # a new start puts everything back
RECORD_SUFFIX = ".noise.json"


class SettingChange(NamedTuple):
    """A file that `noise: fix` writes."""

    setting: str
    path: str
    before: str
    wanted: str


@dataclass(frozen=True, slots=True)
class TuningOutcome:
    """The changes and refusals, for the record."""

    changes: tuple[SettingChange, ...] = ()
    refused: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        settings: dict[str, dict[str, Any]] = {}
        for change in self.changes:
            setting = settings.setdefault(change.setting, {"before": [], "after": change.wanted, "files": 0})
            setting["before"] = sorted({*setting["before"], change.before})
            setting["files"] += 1
        return {"set": settings, **({"refused": list(self.refused)} if self.refused else {})}


@contextmanager
def fixed(lock: Path) -> Iterator[TuningOutcome]:
    """Set what may be set while the block runs. The host lock is held alone."""
    changes = missing_changes()
    if not changes:
        yield TuningOutcome()
        return
    allowed = [change for change in changes if os.access(sysfs.ROOT / change.path, os.W_OK)]
    if refusal := _keep_record(lock, allowed):
        yield TuningOutcome(refused=(refusal,))
        return
    try:
        errors = {change: _apply(change) for change in allowed}
        refused = [f"{change.setting}: /{change.path} may not be written" for change in changes if change not in errors]
        refused += [f"{change.setting}: /{change.path}: {error}" for change, error in errors.items() if error]
        yield TuningOutcome(tuple(change for change, error in errors.items() if not error), tuple(refused))
    finally:
        restore(lock)


def restore(lock: Path) -> tuple[list[str], list[str]]:
    """Return the files that were put back, and errors. The record stays until nothing is left to do."""
    restored, errors = [], []
    for file, value in reversed([*_recorded_values(lock).items()]):
        if error := _write(file, value):
            errors.append(f"/{file}: {error}")
        else:
            restored.append(file)
    if not errors and read_record(lock) is not None:
        record_path(lock).unlink(missing_ok=True)
    return restored, errors


def restore_abandoned(lock: Path) -> None:
    """Put back what an owner that died has changed, by whoever gets the host lock and may do it."""
    with suppress(OSError):
        if has_record(lock) and (files := restore(lock)[0]):
            print(f"settings of a run that was killed are put back: {count_files(files)}", file=sys.stderr, flush=True)


def tuning_refusal(site: Site) -> str:
    """Say what `noise: fix` cannot do here; empty where nothing is asked for, or all of it can be done."""
    closed = [change.setting for change in missing_changes() if not os.access(sysfs.ROOT / change.path, os.W_OK)]
    if site.noise != "fix" or not closed:
        return ""
    return f"noise: {', '.join(dict.fromkeys(closed))} may not be set here; `stepgrid doctor` shows the commands"


def count_files(files: Sequence[str]) -> str:
    return f"{len(files)} file{'s' if len(files) != 1 else ''}, such as /{files[0]}"


def _apply(change: SettingChange) -> str:
    if error := _write(change.path, change.wanted):
        return error
    value = sysfs.chosen(change.path)
    return "" if value == change.wanted else f"it says {value} after {change.wanted} was written"


def _write(file: str, value: str) -> str:
    try:
        sysfs.write(file, value)
    except OSError as error:
        return error.strerror or str(error)
    return ""


# The settings: how they are, how they should be, why.


def missing_changes() -> list[SettingChange]:
    """List what would have to be written, and is not as it should be."""
    changes = [*_governors(), *_turbos()]
    if before := sysfs.chosen(THP):
        changes.append(SettingChange("thp", THP, before, "madvise" if before == "always" else before))
    return [change for change in changes if change.before != change.wanted]


def _governors() -> Iterator[SettingChange]:
    paths = next((paths for pattern in GOVERNORS if (paths := sysfs.matching(pattern))), [])
    for path in paths:
        before, offered = sysfs.text(path), sysfs.text(path.replace("scaling_", "scaling_available_") + "s")
        if before and "performance" in (offered or "performance").split():
            yield SettingChange("governor", path, before, "performance")


def _turbos() -> Iterator[SettingChange]:
    for path, off in ((NO_TURBO, "1"), (BOOST, "0")):
        if (before := sysfs.text(path)) in ("0", "1"):
            yield SettingChange("turbo", path, str(before), off)


def setting_findings() -> Iterator[Finding]:
    yield from (_governor(), _turbo(), _thp(), _smt(), _aslr())


def _governor() -> Finding:
    governors, expected = sorted({change.before for change in _governors()}), "performance"
    if not governors:
        return unknown("governor", "this host does not say (a virtual machine's host decides)", expected)
    fine = governors == [expected]
    mend = "" if fine else f"echo performance | sudo tee /{CPUS}/cpu*/cpufreq/scaling_governor"
    return Finding("governor", OK if fine else WARNING, ", ".join(governors), governors, expected, mend)


def _turbo() -> Finding:
    switches = list(_turbos())
    if not switches:
        return unknown("turbo", "this host does not say (a virtual machine's host decides)", "off")
    on = [change for change in switches if change.before != change.wanted]
    mend = f"echo {on[0].wanted} | sudo tee /{on[0].path}" if on else ""
    return Finding("turbo", WARNING if on else OK, "on" if on else "off", bool(on), "off", mend)


def _thp() -> Finding:
    choice, expected = sysfs.chosen(THP), "madvise or never"
    if choice is None:
        return unknown("thp", expected=expected)
    mend = f"echo madvise | sudo tee /{THP}" if choice == "always" else ""
    return Finding("thp", WARNING if mend else OK, choice, choice, expected, mend)


def _smt() -> Finding:
    """SMT is a matter of the hardware that the spec describes, which is compared before a run."""
    state = sysfs.text(SMT)
    return Finding("smt", OK, state, state, "as the spec says") if state else unknown("smt")


def _aslr() -> Finding:
    """Layouts that differ are noise, which repeats show; one layout for all is a bias, which they hide."""
    value, expected = sysfs.number(ASLR), "2: each run has another layout"
    if value is None:
        return unknown("aslr", expected=expected)
    mend = "" if value == 2 else "sudo sysctl kernel.randomize_va_space=2"
    return Finding("aslr", WARNING if mend else OK, str(value), value, expected, mend)


# The record of what has to be put back.


def record_path(lock: Path) -> Path:
    return lock.with_name(f"{lock.name}{RECORD_SUFFIX}")


def has_record(lock: Path) -> bool:
    return os.path.lexists(record_path(lock))


def record_finding(lock: Path) -> Finding:
    """Report settings of a killed run, to who may not put them back: others did when they got the lock."""
    owner = (read_record(lock) or {}).get("pid")
    if owner == os.getpid() or not has_record(lock):
        return Finding("settings", OK, "none left changed by a killed run")
    text, values = "a killed run left them changed", dict(_recorded_values(lock))
    return Finding("settings", WARNING, text, values, "", "sudo stepgrid doctor --restore")


def read_record(lock: Path) -> Mapping[str, Any] | None:
    """Believe only root's record or our own, since others may write to that folder, too."""
    try:
        descriptor = os.open(record_path(lock), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, encoding="utf-8") as file:
        status = os.fstat(descriptor)
        if status.st_uid not in (0, os.geteuid()) or not stat.S_ISREG(status.st_mode):
            return None
        with suppress(ValueError):
            record = json.load(file)
            return record if isinstance(record, dict) else {}
    return {}  # half of one


def _recorded_values(lock: Path) -> Mapping[str, str]:
    """Map each file to its former value; only files that a fix may write, and values that may be in them."""
    record = read_record(lock) or {}
    before = record.get("before")
    if record.get("boot") != sysfs.text(BOOT) or not isinstance(before, dict):
        return {}
    is_valid: dict[str, Callable[[str], bool]] = dict.fromkeys((NO_TURBO, BOOST), lambda value: value in ("0", "1"))
    for path in (THP, *(path for pattern in GOVERNORS for path in sysfs.matching(pattern))):
        is_valid[path] = str.isidentifier
    return {
        file: value
        for file, value in before.items()
        if file in is_valid and isinstance(value, str) and is_valid[file](value)
    }


def _keep_record(lock: Path, changes: Sequence[SettingChange]) -> str:
    """Write the record before anything is set; say why nothing may be set: without one nobody could put it back."""
    path = record_path(lock)
    if has_record(lock):
        return f"nothing was set: {path} is of a run that was killed: sudo stepgrid doctor --restore"
    before = {change.path: change.before for change in changes}
    record = {"boot": sysfs.text(BOOT), "pid": os.getpid(), "user": os.getuid(), "before": before}
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
        sync(path)
        sync(path.parent)
    except OSError as error:
        return f"nothing was set: {path} cannot be written: {error.strerror}"
    return ""
