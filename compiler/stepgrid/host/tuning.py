"""Settings of a host that make figures differ, and `noise: fix`, which sets them while a stage is measured.

It puts them back, also for an owner that was killed: a record of what was there lies beside the host lock. The owner
holds the lock alone as long as the record exists. So whoever holds it, and is not the owner, knows that the owner is
gone; no process id is trusted.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from stepgrid.host import sysfs
from stepgrid.host.counters import CPUS
from stepgrid.host.files import sync
from stepgrid.model.records import OK, WARNING, ChangedSettings, HostFinding, parse_record
from stepgrid.model.site import Site

BOOT = "proc/sys/kernel/random/boot_id"  # a new start puts everything back
RECORD_SUFFIX = ".noise.json"


class SettingChange(NamedTuple):
    """A file that `noise: fix` writes."""

    setting: str
    path: str
    before: str
    wanted: str


class TuningOutcome(Struct, frozen=True):
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


# The settings: how they are, how they should be. docs/concepts/noise.md says why.

# from a value, or a path and its value, to what the file should hold; "": this file does not matter
Rule = Mapping[str, str] | Callable[[str, str], str]

SWITCH = {"0": "off", "1": "on"}
NO_SENSOR = "this host does not say (a virtual machine's host decides)"
DEEP = 10  # µs to wake up from a C-state: C1 and C1E take less


class Knob(NamedTuple):
    """A setting of the kernel, in one file or in one for each processor, state or interrupt."""

    name: str
    files: Mapping[str, Rule]  # by pattern; the first one that matches counts
    expected: str
    mend: str = ""  # the command
    values: str = "[01]"  # that may be put back
    words: Mapping[str, str] = SWITCH
    fine: str = ""  # in place of the words, where nothing is missing
    unknown: str = "this host does not say"
    is_fixed: bool = True  # by `noise: fix`


def _performance(path: str, value: str) -> str:
    offered = sysfs.text(path.replace("scaling_", "scaling_available_") + "s")
    return "performance" if "performance" in (offered or "performance").split() else ""


def _shallow(path: str, value: str) -> str:
    latency = sysfs.number(path.replace("/disable", "/latency"))
    return "1" if latency is not None and latency > DEEP else value


def _beside_isolated(_: str, value: str) -> str:
    """Steer an interrupt away from processors that the kernel isolates for what is measured."""
    from stepgrid.host.processes.launch import format_processors, parse_processors

    isolated, online = (parse_processors(sysfs.text(f"{CPUS}/{name}") or "") for name in ("isolated", "online"))
    processors = parse_processors(value)
    return format_processors(processors - isolated or online - isolated) if processors & isolated else value


KERNEL = "proc/sys/kernel"
OFF = {"1": "0"}
KNOBS = (
    Knob("governor", {f"{CPUS}/cpufreq/policy*/scaling_governor": _performance,
                      f"{CPUS}/cpu[0-9]*/cpufreq/scaling_governor": _performance}, "performance",
         f"echo performance | sudo tee /{CPUS}/cpu*/cpufreq/scaling_governor", r"\w+", unknown=NO_SENSOR),
    Knob("turbo", {f"{CPUS}/intel_pstate/no_turbo": {"0": "1"}, f"{CPUS}/cpufreq/boost": OFF}, "off",
         "echo {wanted} | sudo tee /{path}", words=dict.fromkeys("01", "on"), fine="off", unknown=NO_SENSOR),
    Knob("thp", {"sys/kernel/mm/transparent_hugepage/enabled": {"always": "madvise"}}, "madvise or never",
         "echo {wanted} | sudo tee /{path}", r"\w+"),
    Knob("smt", {f"{CPUS}/smt/control": {}}, "as the spec says", is_fixed=False),  # a part of the spec's hardware
    # layouts that differ are noise, which repeats show; one layout for all is a bias, which they hide
    Knob("aslr", {f"{KERNEL}/randomize_va_space": {"0": "2", "1": "2"}}, "2: each run has another layout",
         "sudo sysctl kernel.randomize_va_space=2", words={}, is_fixed=False),
    Knob("numa balancing", {f"{KERNEL}/numa_balancing": {"1": "0", "2": "0", "3": "0"}}, "off",
         "sudo sysctl kernel.numa_balancing=0", "[0-3]", words={"0": "off"} | dict.fromkeys("123", "on")),
    Knob("ksm", {"sys/kernel/mm/ksm/run": OFF}, "off", "echo 0 | sudo tee /{path}", "[0-2]"),
    Knob("timer migration", {f"{KERNEL}/timer_migration": OFF}, "off", "sudo sysctl kernel.timer_migration=0"),
    Knob("soft watchdog", {f"{KERNEL}/soft_watchdog": OFF}, "off", "sudo sysctl kernel.soft_watchdog=0"),
    Knob("idle states", {f"{CPUS}/cpu[0-9]*/cpuidle/state[1-9]*/disable": _shallow}, f"none deeper than {DEEP} µs",
         f"sudo cpupower idle-set -D {DEEP}", words={"0": "deep ones are on"},
         fine=f"none deeper than {DEEP} µs", unknown=NO_SENSOR),
    Knob("irqs", {"proc/irq/[0-9]*/smp_affinity_list": _beside_isolated}, "none on isolated processors",
         "for f in /proc/irq/*/smp_affinity_list; do echo {wanted} | sudo tee $f; done", "[0-9,-]+", words={},
         fine="none on isolated processors"),
)  # fmt: skip


def missing_changes() -> list[SettingChange]:
    """List what would have to be written, and is not as it should be."""
    changes = [change for knob in KNOBS if knob.is_fixed for change in _read_knob(knob)]
    return [change for change in changes if change.before != change.wanted]


def _read_knob(knob: Knob) -> list[SettingChange]:
    """List the files of a setting; `wanted` is what a file holds already where that is right."""
    changes: list[SettingChange] = []
    for pattern, rule in knob.files.items():
        for path in () if changes else sysfs.matching(pattern):
            value = sysfs.chosen(path) or ""
            wanted = rule(path, value) if callable(rule) else rule.get(value, value)
            changes += [SettingChange(knob.name, path, value, wanted)] if value and wanted else []
    return changes


def setting_findings() -> Iterator[HostFinding]:
    return map(_setting_finding, KNOBS)


def _setting_finding(knob: Knob) -> HostFinding:
    changes = _read_knob(knob)
    if not changes:
        return HostFinding.unknown(knob.name, knob.unknown, knob.expected)
    missing = [change for change in changes if change.before != change.wanted]
    values = sorted({knob.words.get(change.before, change.before) for change in missing or changes})
    text = ", ".join(values) if missing or not knob.fine else knob.fine
    mend = knob.mend.format(path=missing[0].path, wanted=missing[0].wanted) if missing else ""
    return HostFinding(knob.name, WARNING if missing else OK, text, values, knob.expected, mend)


# The record of what has to be put back.


def record_path(lock: Path) -> Path:
    return lock.with_name(f"{lock.name}{RECORD_SUFFIX}")


def has_record(lock: Path) -> bool:
    return os.path.lexists(record_path(lock))


def record_finding(lock: Path) -> HostFinding:
    """Report settings of a killed run, to who may not put them back: others did when they got the lock."""
    record = read_record(lock)
    if (record and record.pid == os.getpid()) or not has_record(lock):
        return HostFinding("settings", OK, "none left changed by a killed run")
    text, values = "a killed run left them changed", dict(_recorded_values(lock))
    return HostFinding("settings", WARNING, text, values, "", "sudo stepgrid doctor --restore")


def read_record(lock: Path) -> ChangedSettings | None:
    """Believe only root's record or our own, since others may write to that folder, too."""
    try:
        descriptor = os.open(record_path(lock), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if status.st_uid not in (0, os.geteuid()) or not stat.S_ISREG(status.st_mode):
            return None
        with suppress(ValueError):
            return parse_record(file.read(), ChangedSettings)
    return ChangedSettings()  # half of one


def _recorded_values(lock: Path) -> Mapping[str, str]:
    """Map each file to its former value; only files that a fix may write, and values that may be in them."""
    record = read_record(lock)
    if record is None or record.boot != sysfs.text(BOOT):
        return {}
    patterns = {
        path: knob.values
        for knob in KNOBS
        if knob.is_fixed
        for pattern in knob.files
        for path in sysfs.matching(pattern)
    }
    return {
        file: value for file, value in record.before.items() if file in patterns and re.fullmatch(patterns[file], value)
    }


def _keep_record(lock: Path, changes: Sequence[SettingChange]) -> str:
    """Write the record before anything is set; say why nothing may be set: without one nobody could put it back."""
    path = record_path(lock)
    if has_record(lock):
        return f"nothing was set: {path} is of a run that was killed: sudo stepgrid doctor --restore"
    before = {change.path: change.before for change in changes}
    record = ChangedSettings(sysfs.text(BOOT), os.getpid(), os.getuid(), before)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(record.to_json(), file, indent=1)
        sync(path)
        sync(path.parent)
    except OSError as error:
        return f"nothing was set: {path} cannot be written: {error.strerror}"
    return ""
