"""Settings of a host that make figures differ from run to run: how they are, how they should be, why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from stepgrid.host import sysfs
from stepgrid.host.host_check import OK, WARNING, Finding, unknown

CPUS = "sys/devices/system/cpu"
GOVERNORS = (f"{CPUS}/cpufreq/policy*/scaling_governor", f"{CPUS}/cpu[0-9]*/cpufreq/scaling_governor")
NO_TURBO, BOOST = f"{CPUS}/intel_pstate/no_turbo", f"{CPUS}/cpufreq/boost"
THP = "sys/kernel/mm/transparent_hugepage/enabled"
ASLR, SMT = "proc/sys/kernel/randomize_va_space", f"{CPUS}/smt/control"
FIXED = ("governor", "turbo", "thp")  # what `noise: fix` sets


class SettingChange(NamedTuple):
    """One file that `noise: fix` writes."""

    setting: str
    path: str
    before: str
    wanted: str


def findings() -> Iterator[Finding]:
    yield from (_governor(), _turbo(), _thp(), _smt(), _aslr())


def changes() -> list[SettingChange]:
    """What would have to be written, and is not as it should be."""
    found = [*_governors(), *_turbos(), *_pages()]
    return [change for change in found if change.before != change.wanted]


def files() -> Mapping[str, Callable[[str], bool]]:
    """Every file that a fix may write -> whether a value may be put back into it."""
    plain = {path: _is_word for pattern in GOVERNORS for path in sysfs.matching(pattern)}
    return {**plain, **dict.fromkeys((NO_TURBO, BOOST), _is_switch), THP: _is_word}


def _is_word(value: str) -> bool:
    return value.isidentifier()


def _is_switch(value: str) -> bool:
    return value in ("0", "1")


def _governors() -> Iterator[SettingChange]:
    paths = next((found for pattern in GOVERNORS if (found := sysfs.matching(pattern))), [])
    for path in paths:
        before, offered = sysfs.text(path), sysfs.text(path.replace("scaling_", "scaling_available_") + "s")
        if before and "performance" in (offered or "performance").split():
            yield SettingChange("governor", path, before, "performance")


def _turbos() -> Iterator[SettingChange]:
    for path, off in ((NO_TURBO, "1"), (BOOST, "0")):
        if (before := sysfs.text(path)) in ("0", "1"):
            yield SettingChange("turbo", path, str(before), off)


def _pages() -> Iterator[SettingChange]:
    if before := sysfs.chosen(THP):
        yield SettingChange("thp", THP, before, "madvise" if before == "always" else before)


def _governor() -> Finding:
    found, expected = sorted({change.before for change in _governors()}), "performance"
    if not found:
        return unknown("governor", "this host does not say (a virtual machine's host decides)", expected)
    fine = found == [expected]
    mend = "" if fine else f"echo performance | sudo tee /{CPUS}/cpu*/cpufreq/scaling_governor"
    return Finding("governor", OK if fine else WARNING, ", ".join(found), found, expected, mend)


def _turbo() -> Finding:
    found = list(_turbos())
    if not found:
        return unknown("turbo", "this host does not say (a virtual machine's host decides)", "off")
    on = [change for change in found if change.before != change.wanted]
    mend = f"echo {on[0].wanted} | sudo tee /{on[0].path}" if on else ""
    return Finding("turbo", WARNING if on else OK, "on" if on else "off", bool(on), "off", mend)


def _thp() -> Finding:
    found, expected = sysfs.chosen(THP), "madvise or never"
    if found is None:
        return unknown("thp", expected=expected)
    mend = f"echo madvise | sudo tee /{THP}" if found == "always" else ""
    return Finding("thp", WARNING if mend else OK, found, found, expected, mend)


def _smt() -> Finding:
    """A matter of the hardware that the spec describes, which is compared before a run."""
    found = sysfs.text(SMT)
    return Finding("smt", OK, found, found, "as the spec says") if found else unknown("smt")


def _aslr() -> Finding:
    """Layouts that differ are noise, which repeats show; one layout for all is a bias, which they hide."""
    found, expected = sysfs.number(ASLR), "2: each run has another layout"
    if found is None:
        return unknown("aslr", expected=expected)
    mend = "" if found == 2 else "sudo sysctl kernel.randomize_va_space=2"
    return Finding("aslr", WARNING if mend else OK, str(found), found, expected, mend)
