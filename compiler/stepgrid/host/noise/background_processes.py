"""The processes of this host: whose they are, and which of them are known to disturb."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from stepgrid.host import sysfs
from stepgrid.host.counters import TICK
from stepgrid.host.host_check import OK, WARNING, Finding, unknown

KTHREADD = 2
COMPILERS = ("cc1", "cc1plus", "clang", "clang++", "lto1", "ld", "ld.lld", "rustc", "cargo", "ninja", "javac", "bazel")
SERVICES = (
    *("updatedb", "updatedb.mlocat", "updatedb.plocat", "mandb", "apt", "apt-get", "aptitude", "dpkg", "dnf", "yum"),
    *("zypper", "rpm", "packagekitd", "unattended-upgr", "snapd", "fstrim", "e2scrub", "xfs_scrub", "btrfs"),
    *("rsync", "restic", "borg", "duplicity", "tar", "clamscan", "freshclam", "aide", "rkhunter"),
    *("tracker-miner-f", "tracker-extract", "baloo_file", "baloo_file_extr", "localsearch-3"),
)  # as the kernel cuts names: 15 bytes
IDLE = ("packagekitd", "snapd", "unattended-upgr", "tracker-miner-f", "baloo_file", "localsearch-3")  # they mostly wait
_JOBS = frozenset({"stepgrid.run", "stepgrid.build"})
CRON = ("cron", "crond", "anacron", "atd")


class Process(NamedTuple):
    pid: int
    parent: int
    name: str
    cpu: float  # seconds so far


def processes() -> dict[int, Process]:
    return {found.pid: found for pid in sysfs.pids() if (found := _process(pid))}


def _process(pid: int) -> Process | None:
    head, _, rest = (sysfs.text(f"proc/{pid}/stat") or "").rpartition(") ")
    fields = rest.split()
    if len(fields) < 13:
        return None
    return Process(pid, int(fields[1]), head.partition(" (")[2], (int(fields[11]) + int(fields[12])) / TICK)


def ours(found: Mapping[int, Process]) -> set[int]:
    """This process, what started it, and what it started: their noise is that of the tool, not of others."""
    above = {each.pid for each in _above(found, os.getpid())}
    return above | {pid for pid in found if any(each.pid == os.getpid() for each in _above(found, pid))}


def _above(found: Mapping[int, Process], pid: int) -> Iterator[Process]:
    """A process and those that it descends from, but not the first of all."""
    seen: set[int] = set()
    while pid > 1 and pid in found and pid not in seen:
        seen.add(pid)
        yield found[pid]
        pid = found[pid].parent


def busiest(before: Mapping[int, Process], after: Mapping[int, Process], seconds: float) -> list[tuple[Process, float]]:
    """Others that used the processors in between, the busiest first, with the cores that each took."""
    own = ours(after)
    used = [(each, each.cpu - (before[pid].cpu if pid in before else 0.0)) for pid, each in after.items()]
    found = [(each, cpu / seconds) for each, cpu in used if cpu > 0 and each.pid not in own]
    return sorted(found, key=lambda pair: -pair[1])


def findings(found: Mapping[int, Process], busy: Sequence[Process]) -> Iterator[Finding]:
    """Of what is known by its name; `busy`: those that did something just now."""
    if not found:
        yield from map(unknown, ("builds", "services", "cron jobs", "other runs"))
        return
    own = ours(found)
    others = [each for pid, each in found.items() if pid not in own]
    active = {each.pid for each in busy}
    yield _some("builds", "no compiler runs", [each for each in others if each.name in COMPILERS], "let it finish")
    at_work = [e for e in others if e.name in SERVICES and (e.pid in active or e.name not in IDLE)]
    yield _some("services", "none at work", at_work, "let it finish, or stop it")
    yield _some("cron jobs", "none", list(_started_by_cron(found, others)), "let it finish, or stop it")
    yield _some("other runs", "none", list(_other_runs(others)), "one host lock for all: see STEPGRID_HOST_LOCK")


def _some(name: str, none: str, found: Sequence[Process], mend: str) -> Finding:
    if not found:
        return Finding(name, OK, none, [], none)
    said = ", ".join(dict.fromkeys(f"{each.name} ({each.pid})" for each in found[:5]))
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    value = [{"pid": each.pid, "name": each.name} for each in found]
    return Finding(name, WARNING, f"{said}{more}", value, none, mend, travels=True)


def _started_by_cron(found: Mapping[int, Process], others: Iterable[Process]) -> Iterator[Process]:
    """Not the workers that cron itself leads, which have its name."""
    for each in others:
        if each.name not in CRON and any(above.name in CRON for above in _above(found, each.parent)):
            yield each


def _other_runs(others: Iterable[Process]) -> Iterator[Process]:
    """Jobs of stepgrid that this host's lock does not keep waiting."""
    jobs = [each for each in others if _JOBS.intersection(_words(each.pid))]
    waiting = _waiting() if jobs else set()  # the kernel takes 10 ms to list its locks
    yield from (each for each in jobs if each.pid not in waiting)


def _words(pid: int) -> list[str]:
    return (sysfs.text(f"proc/{pid}/cmdline") or "").split("\0")


def _waiting() -> set[int]:
    """Those that a lock holds up."""
    rows = [line.split() for line in (sysfs.text("proc/locks") or "").splitlines() if "->" in line]
    return {int(row[5]) for row in rows if len(row) > 5 and row[5].isdecimal()}
