"""What may start by itself while a step is measured: timers of systemd, jobs of cron, upgrades."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from stepgrid.host import sysfs
from stepgrid.host.host_check import OK, WARNING, Finding, unknown
from stepgrid.host.noise.background_processes import CRON, Process

WANTED = "etc/systemd/system/timers.target.wants"
LIGHT = ("systemd-tmpfiles-clean.timer", "motd-news.timer", "phpsessionclean.timer")  # seconds of nothing much
CRONTABS = ("etc/cron.hourly", "etc/cron.daily", "etc/cron.weekly", "etc/cron.monthly", "etc/cron.d")


def findings(running: Collection[Process]) -> Iterator[Finding]:
    names = {process.name for process in running}
    if not names:
        yield from (unknown("timers"), unknown("cron"))
        return
    yield _timers("systemd" in names)
    yield _cron(bool(names & {*CRON}))


def _timers(by_systemd: bool) -> Finding:
    found = [name for name in sysfs.names(WANTED) if name not in LIGHT] if by_systemd else []
    if not found:
        return Finding("timers", OK, "none that may start" if by_systemd else "systemd does not run here", [])
    return Finding(
        "timers", WARNING, f"may start: {', '.join(found)}", found, "none", f"sudo systemctl stop {' '.join(found)}"
    )


def _cron(runs: bool) -> Finding:
    hidden = ".placeholder"
    found = [f"{folder}/{name}" for folder in CRONTABS for name in sysfs.names(folder) if name != hidden]
    if not runs or not found:
        return Finding("cron", OK, "does not run here" if not runs else "has nothing to start", [])
    said = ", ".join(path.removeprefix("etc/") for path in found)
    return Finding("cron", WARNING, f"may start: {said}", found, "nothing to start", "sudo systemctl stop cron")
