"""What the system lets us do: the host lock, cgroups, counters of the processors, a clock that is right."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator

from stepgrid.host import locks, sysfs
from stepgrid.host.host_check import OK, WARNING, Finding, unknown
from stepgrid.host.processes import cgroup, launch

UNSYNCHRONIZED = 0x40  # STA_UNSYNC of adjtimex(2)
STATUS = 40  # where it is in struct timex on machines of 64 bits
PARANOID = 2  # up to there, one's own processes may be counted


def findings() -> Iterator[Finding]:
    yield _lock()
    yield _limits()
    yield _finding()
    yield _counters()
    yield _clock()


def _lock() -> Finding:
    found = locks.host_users()
    said = f"{locks.host_lock_path()}: {', '.join(found) if found else 'nobody measures or builds now'}"
    return Finding("host lock", OK, said, found)


def _limits() -> Finding:
    scope = not launch.scope_refusal(launch.SCOPE)
    by = ["systemd-run --user --scope"] if scope else []
    by += ["a cgroup of our own"] if cgroup.can_limit() else []
    said = f"by {' or '.join(by)}" if by else "neither systemd-run nor a cgroup of our own gives them"
    mend = "" if by else "loginctl enable-linger $USER, or leave `launch: {memory}` out"
    return Finding("memory limits", OK if by else WARNING, said, by, "" if by else "possible", mend)


def _finding() -> Finding:
    """Without one, who leaves its process group is not found."""
    works = cgroup.can_find()
    said = "a cgroup for each step" if works else "process groups only: a daemon that a step leaves behind is not found"
    mend = "" if works else "systemd-run --user --scope -p Delegate=yes stepgrid run …"
    return Finding("supervision", OK if works else WARNING, said, works, "" if works else "a cgroup", mend)


def _counters() -> Finding:
    level, expected = sysfs.number("proc/sys/kernel/perf_event_paranoid"), f"at most {PARANOID}"
    if level is None:
        return unknown("perf counters", expected=expected)
    said = f"kernel.perf_event_paranoid is {level}"
    if not any(name.startswith(("cpu", "armv8")) for name in sysfs.names("sys/bus/event_source/devices")):
        return Finding(
            "perf counters", WARNING, "those of the processors are not there", level, "", "a host that has them"
        )
    mend = "" if level <= PARANOID else f"sudo sysctl kernel.perf_event_paranoid={PARANOID}"
    return Finding("perf counters", WARNING if mend else OK, said, level, expected, mend)


def _clock() -> Finding:
    expected = "kept right by NTP"
    status = _clock_status()
    if status is None:
        return unknown("clock", expected=expected)
    wrong = bool(status & UNSYNCHRONIZED)
    said = "nothing keeps it right" if wrong else expected
    return Finding("clock", WARNING if wrong else OK, said, not wrong, expected, "timedatectl set-ntp true" * wrong)


def _clock_status() -> int | None:
    if sys.maxsize < 1 << 32:
        return None
    found = ctypes.create_string_buffer(256)  # modes 0: nothing is set
    if ctypes.CDLL(None, use_errno=True).adjtimex(found) < 0:
        return None
    return int.from_bytes(found.raw[STATUS : STATUS + 4], sys.byteorder)
