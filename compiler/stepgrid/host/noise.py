"""Noise on this host: a look before a measured stage, whose findings go with its figures."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

from stepgrid.host import disk, sysfs, tuning
from stepgrid.host.activity import (
    CRON,
    FirstReading,
    Process,
    activity_findings,
    first_reading,
    look_seconds,
    observe,
    process_findings,
)
from stepgrid.host.processes import cgroup
from stepgrid.model.plan import Json
from stepgrid.model.records import OK, WARNING, HostFinding, NoiseRecord, replace
from stepgrid.model.site import Site
from stepgrid.model.units import counted, percent, size

SHORT = 0.15  # where nothing is seen, with a first reading from the start of the job: its imports fill most of it
LOOKS = 3  # what is over after a moment, such as the end of another measurement, disturbs no stage
FRESH = 2.0  # an older first reading is of a time in which another stage may have been measured


class Inspection(NamedTuple):
    seconds: float  # of the look
    findings: list[HostFinding]


@contextmanager
def quiet(
    data: Path, site: Site, lock: Path, measured: bool, first: FirstReading | None = None
) -> Iterator[NoiseRecord | None]:
    """Keep settings right while the block runs, which gets a record. The host lock is held."""
    with suppress(OSError):
        cgroup.sweep()
    with tuning.fixed(lock) if site.noise == "fix" else nullcontext() as outcome:
        if not (measured and look_seconds()):
            yield None
            return
        try:
            inspection = look(data, site.device, lock, first)
        except Exception as error:  # watching is no reason for a stage to fail
            inspection = Inspection(0.0, [HostFinding.unknown("all", f"{type(error).__name__}: {error}")])
        yield NoiseRecord(
            seconds=inspection.seconds,
            findings=tuple(inspection.findings),
            warning=warning(inspection.findings),
            fixed=outcome.to_json() if outcome else None,
        )


def look(data: Path, device: str | None, lock: Path, first: FirstReading | None = None) -> Inspection:
    """Look for noise since a fresh first reading; look again at noise, in a moment in which we do nothing."""
    name = disk.device(data, device)
    names = disk.members(name) if name else []
    if first and first.age < FRESH:
        inspection = inspect_host(min(SHORT, look_seconds()), names, lock, first)
        if not warning(inspection.findings):
            return inspection
    for _ in range(LOOKS):
        inspection = inspect_host(look_seconds(), names, lock)
        if not warning(inspection.findings):
            break
    return inspection


def inspect_host(least: float, names: Sequence[str], lock: Path, first: FirstReading | None = None) -> Inspection:
    first = first or first_reading(names)
    settings = [*memory_findings(names), *tuning.setting_findings(), tuning.record_finding(lock)]  # while time passes
    activity = observe(least, names, first)
    processes = activity.last.processes
    findings = [
        *activity_findings(activity, os.cpu_count() or 1, names),
        *process_findings(processes, [process for process, _ in activity.busy()]),
        *timer_findings(processes.values()),
        *settings,
    ]
    return Inspection(round(activity.seconds, 3), findings)


def warning(findings: Sequence[HostFinding]) -> str | None:
    """Say what a reader of the figures must know: process ids tell him nothing."""
    parts = []
    for finding in findings:
        if finding.travels and isinstance(finding.value, list):
            parts.append(f"{finding.name}: {', '.join(dict.fromkeys(process['name'] for process in finding.value))}")
        elif finding.travels:
            parts.append(re.sub(r" \(\d+\)", "", finding.text))
    return "; ".join(parts) or None


# Names of processes and jobs are shown to those who run, and stay here: they are other people's business.

_LISTS = ("builds", "services", "cron jobs", "other runs")
_START = ("timers", "cron")
_NAMES = re.compile(r"(?:; )?\b(?:busiest|builds|services|cron jobs|other runs): [^;]*")  # of a warning alone


def unnamed_record(record: NoiseRecord) -> NoiseRecord:
    """Return a record of `quiet` as reports and exports have it: how busy others were, not by which programs."""
    findings = tuple(map(_unnamed, record.findings))
    if record.warning is None:
        return replace(record, findings=findings)
    parts = [
        f"{finding.name}: {finding.text}" if finding.name in _LISTS else re.sub(r" \(\d+\)", "", finding.text)
        for finding in findings
        if finding.travels and finding.text
    ]
    text = "; ".join(parts) or _NAMES.sub("", record.warning) or "others used the host"
    return replace(record, findings=findings, warning=text)


def _unnamed(finding: HostFinding) -> HostFinding:
    name, value = finding.name, finding.value
    if name == "cpu":
        cores: Json = {"cores": value.get("cores")} if isinstance(value, dict) else value
        return replace(finding, text=finding.text.partition("; busiest")[0], value=cores, mend="")
    if name in (*_LISTS, *_START) and isinstance(value, list):
        text = counted(len(value), "program" if name in _LISTS else "job") if value else finding.text
        return replace(finding, text=text, value=len(value), mend="")
    return finding


# Memory, load and RAID of this host before a step.

LEAST_FREE = 0.5  # of the memory: below that, others hold what a page cache would
TINY_SWAP = 0.01  # of the memory in swap: what was never used again
DAMON = "sys/kernel/mm/damon/admin/kdamonds"
DAMON_RECLAIM = "sys/module/damon_reclaim/parameters/enabled"
PAGES_OUT = "pageout"  # an action of DAMON


def memory_findings(device_names: Sequence[str]) -> Iterator[HostFinding]:
    total = sysfs.memory("MemTotal") or 0
    yield _free_memory(total, sysfs.memory("MemAvailable"))
    yield _swap(total, sysfs.memory("SwapTotal"), sysfs.memory("SwapFree"))
    yield _reclaim()
    yield _load()
    yield from (_raid(name) for name in device_names if name.startswith("md"))


def _free_memory(total: int, available: int | None) -> HostFinding:
    expected = f"at least {percent(LEAST_FREE)} of it"
    if not total or available is None:
        return HostFinding.unknown("memory", expected=expected)
    little = available < LEAST_FREE * total
    text = f"{size(available)} of {size(total)} free"
    mend = "end what holds it: ps aux --sort=-rss | head" if little else ""
    return HostFinding("memory", WARNING if little else OK, text, available, expected, mend)


def _swap(memory: int, total: int | None, free: int | None) -> HostFinding:
    if total is None or free is None or not memory:
        return HostFinding.unknown("swap", expected="none in use")
    used = total - free
    much = used > TINY_SWAP * memory
    text = f"{size(used)} of {size(total)} in use" if total else "there is none"
    return HostFinding("swap", WARNING if much else OK, text, used, "none in use", "sudo swapoff -a" if much else "")


def _reclaim() -> HostFinding:
    """Warn of DAMON: the page cache of a restored database depends on how long ago somebody read it."""
    expected = "only when memory is short"
    if not sysfs.names("sys/kernel/mm"):
        return HostFinding.unknown("reclaim", expected=expected)
    actions = list(_damon_actions())
    if not actions:
        return HostFinding("reclaim", OK, expected, [], expected)
    text = "DAMON takes what nobody reads out of memory"
    if PAGES_OUT not in actions:
        text = "DAMON is at work; root may read whether it takes what nobody reads out of memory"
    mend = f"`start: warm` in the spec, or echo off | sudo tee /{DAMON}/*/state"
    return HostFinding("reclaim", WARNING, text, actions, expected, mend)


def _damon_actions() -> Iterator[str]:
    """List actions at work that take pages out of memory, or may: only root may read them."""
    if sysfs.text(DAMON_RECLAIM) == "Y":
        yield PAGES_OUT
    for number in filter(str.isdecimal, sysfs.names(DAMON)):
        if sysfs.text(f"{DAMON}/{number}/state") != "off":
            actions = (sysfs.text(path) for path in sysfs.matching(f"{DAMON}/{number}/contexts/*/schemes/*/action"))
            yield from (action or "unknown" for action in actions if action in (None, PAGES_OUT))


def _load() -> HostFinding:
    """Report the load without a verdict: it still holds what ended minutes ago, such as the stage before."""
    words = (sysfs.text("proc/loadavg") or "").split()
    if len(words) < 3:
        return HostFinding.unknown("load")
    return HostFinding(
        "load", OK, f"{', '.join(words[:3])} over 1, 5 and 15 minutes", [float(word) for word in words[:3]]
    )


def _raid(name: str) -> HostFinding:
    action = sysfs.text(f"sys/class/block/{name}/md/sync_action")
    if action is None:
        return HostFinding.unknown(f"raid {name}", expected="idle")
    noisy = action != "idle"
    mend = f"echo idle | sudo tee /sys/block/{name}/md/sync_action" if action == "check" else "wait for its end"
    severity = WARNING if noisy else OK
    return HostFinding(f"raid {name}", severity, action, action, "idle", mend if noisy else "", travels=noisy)


# Timers of systemd and jobs of cron that may start by themselves while a step is measured.

TIMERS = "etc/systemd/system/timers.target.wants"
LIGHT_TIMERS = ("systemd-tmpfiles-clean.timer", "motd-news.timer", "phpsessionclean.timer")  # seconds of nothing much
CRONTABS = ("etc/cron.hourly", "etc/cron.daily", "etc/cron.weekly", "etc/cron.monthly", "etc/cron.d")


def timer_findings(processes: Collection[Process]) -> Iterator[HostFinding]:
    running = {process.name for process in processes}
    if not running:
        yield from map(HostFinding.unknown, ("timers", "cron", "irqbalance"))
        return
    yield _timers("systemd" in running)
    yield _cron(bool(running & {*CRON}))
    steers, expected = "irqbalance" in running, "does not run"
    text = "moves interrupts between processors every 10 s" if steers else expected
    mend = "sudo systemctl stop irqbalance" if steers else ""
    yield HostFinding("irqbalance", WARNING if steers else OK, text, steers, expected, mend)


def _timers(by_systemd: bool) -> HostFinding:
    names = [name for name in sysfs.names(TIMERS) if name not in LIGHT_TIMERS] if by_systemd else []
    if not names:
        return HostFinding("timers", OK, "none that may start" if by_systemd else "systemd does not run here", [])
    mend = f"sudo systemctl stop {' '.join(names)}"
    return HostFinding("timers", WARNING, f"may start: {', '.join(names)}", names, "none", mend)


def _cron(runs: bool) -> HostFinding:
    hidden = ".placeholder"
    paths = [f"{folder}/{name}" for folder in CRONTABS for name in sysfs.names(folder) if name != hidden]
    if not runs or not paths:
        return HostFinding("cron", OK, "does not run here" if not runs else "has nothing to start", [])
    jobs = ", ".join(path.removeprefix("etc/") for path in paths)
    return HostFinding("cron", WARNING, f"may start: {jobs}", paths, "nothing to start", "sudo systemctl stop cron")
