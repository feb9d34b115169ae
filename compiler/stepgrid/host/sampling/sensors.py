"""How fast, how hot and how often slowed the processors are, as far as this host tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import fsum

from stepgrid.host import sysfs

CPUS = "sys/devices/system/cpu"
ZONES, MONITORS = "sys/class/thermal", "sys/class/hwmon"
ZONE_TYPES = ("x86_pkg_temp", "cpu", "soc")  # what a zone of processors is called, or begins with
MONITOR_NAMES = ("coretemp", "k10temp", "zenpower", "cpu_thermal")
KHZ, MILLI = 1000, 1000


class Sensors:
    """Where things are is found out once; `read` opens only those files."""

    def __init__(self) -> None:
        cpus = [name for name in sysfs.names(CPUS) if re.fullmatch(r"cpu\d+", name)]
        self._speeds = _there(f"{CPUS}/{cpu}/cpufreq/scaling_cur_freq" for cpu in cpus)
        self._cores = _there(f"{CPUS}/{cpu}/thermal_throttle/core_throttle_count" for cpu in cpus)
        self._packages = _there(_packages(cpus))
        self._heat = _there(_temperatures())

    def read(self) -> dict[str, float]:
        """What cannot be read has no key."""
        throttles = [*_numbers(self._cores), *_numbers(self._packages)]
        heat = [value / MILLI for value in _numbers(self._heat)]
        speeds = [value / KHZ for value in _numbers(self._speeds)] or _megahertz()
        found = (("mhz", _of(_mean, speeds)), ("throttles", _of(sum, throttles)), ("celsius", _of(max, heat)))
        return {name: value for name, value in found if value is not None}


def _packages(cpus: Iterable[str]) -> Iterator[str]:
    """The count of a package stands beside each of its CPUs: one of them tells it."""
    first: dict[int | None, str] = {}
    for cpu in cpus:
        first.setdefault(sysfs.number(f"{CPUS}/{cpu}/topology/physical_package_id"), cpu)
    return (f"{CPUS}/{cpu}/thermal_throttle/package_throttle_count" for cpu in first.values())


def _temperatures() -> Iterator[str]:
    for zone in sysfs.names(ZONES):
        if (sysfs.text(f"{ZONES}/{zone}/type") or "").startswith(ZONE_TYPES):
            yield f"{ZONES}/{zone}/temp"
    for monitor in sysfs.names(MONITORS):
        if sysfs.text(f"{MONITORS}/{monitor}/name") in MONITOR_NAMES:
            yield from (
                f"{MONITORS}/{monitor}/{name}"
                for name in sysfs.names(f"{MONITORS}/{monitor}")
                if re.fullmatch(r"temp\d+_input", name)
            )


def _megahertz() -> list[float]:
    return [float(mhz) for mhz in re.findall(r"^cpu MHz\s*: ([\d.]+)$", sysfs.text("proc/cpuinfo") or "", re.MULTILINE)]


def _there(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if sysfs.number(path) is not None]


def _numbers(paths: Iterable[str]) -> list[int]:
    return [value for path in paths if (value := sysfs.number(path)) is not None]


def _mean(values: Sequence[float]) -> float:
    """As statistics.fmean, whose import takes longer than all else here."""
    return fsum(values) / len(values)


def _of(how: Callable[[Sequence[float]], float], values: Sequence[float]) -> float | None:
    return how(values) if values else None
