"""Counters and sensors of the whole host: processors, memory, pressure and block devices, by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from math import fsum

from stepgrid.host import sysfs

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGESIZE")
KIB = 1024
CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")  # the order of proc(5)
# the order of the kernel's iostats.rst; older kernels end earlier
DEVICE = (
    *("reads", "read_merges", "read_sectors", "read_ms"),
    *("writes", "write_merges", "write_sectors", "write_ms"),
    *("in_flight", "busy_ms", "queue_ms"),
    *("discards", "discard_merges", "discard_sectors", "discard_ms", "flushes", "flush_ms"),
)
MEMORY = {
    "MemFree": "free",
    "MemAvailable": "available",
    "Buffers": "buffers",
    "Cached": "cached",
    "SReclaimable": "reclaimable",
    "Dirty": "dirty",
    "Writeback": "writeback",
    "SwapTotal": "swap",
    "SwapFree": "swap_free",
}
STAT = {"ctxt": "switches", "intr": "interrupts", "procs_running": "running", "procs_blocked": "blocked"}
# bytes since boot: read and written by block devices, and of them what went to and came from swap
PAGING = {
    "pgpgin": ("read", KIB),
    "pgpgout": ("written", KIB),
    "pswpin": ("swapped_in", PAGE),
    "pswpout": ("swapped_out", PAGE),
}
PRESSURE = ("cpu", "io", "memory")


def host(device: str | None, devices: Iterable[str]) -> dict[str, object]:
    """Read cumulative counters, and the gauges of memory and of tasks; unreadable ones have no key."""
    meminfo = re.findall(r"^(\w+):\s*(\d+) kB", sysfs.text("proc/meminfo") or "", re.MULTILINE)
    vmstat = re.findall(r"^(pgpg\w+|pswp\w+) (\d+)$", sysfs.text("proc/vmstat") or "", re.MULTILINE)
    groups: dict[str, Mapping[str, object]] = {
        "memory": {MEMORY[name]: int(kib) * KIB for name, kib in meminfo if name in MEMORY},
        "paging": {PAGING[name][0]: int(count) * PAGING[name][1] for name, count in vmstat if name in PAGING},
        "pressure": _pressure(),
        "devices": {name: counts for name in devices if (counts := _device(name))},
    }
    sample = _stat() | {name: group for name, group in groups.items() if group}
    return {**sample, "device": device} if device in groups["devices"] else sample


def _stat() -> dict[str, object]:
    sample: dict[str, object] = {}
    for line in (sysfs.text("proc/stat") or "").splitlines():
        name, _, counts = line.partition(" ")
        if name == "cpu":
            sample["cpu"] = {kind: int(ticks) / TICK for kind, ticks in zip(CPU, counts.split(), strict=False)}
        elif name in STAT:
            sample[STAT[name]] = int(counts.partition(" ")[0])
    return sample


def _pressure() -> dict[str, int]:
    """Read the microseconds in which some task waited for it."""
    totals = {}
    for name in PRESSURE:
        match = re.search(r"^some .*\btotal=(\d+)", sysfs.text(f"proc/pressure/{name}") or "", re.MULTILINE)
        if match:
            totals[name] = int(match[1])
    return totals


def _device(name: str) -> dict[str, int]:
    counts = (sysfs.text(f"sys/class/block/{name}/stat") or "").split()
    return {key: int(count) for key, count in zip(DEVICE, counts, strict=False)}


# How fast, how hot and how often slowed the processors are, as far as this host tells.

CPUS = "sys/devices/system/cpu"
ZONES, MONITORS = "sys/class/thermal", "sys/class/hwmon"
ZONE_TYPES = ("x86_pkg_temp", "cpu", "soc")  # the types of a zone of processors begin with these
MONITOR_NAMES = ("coretemp", "k10temp", "zenpower", "cpu_thermal")
KHZ, MILLI = 1000, 1000


class Sensors:
    """The readable files are looked for once; `read` opens only these."""

    def __init__(self) -> None:
        cpus = [name for name in sysfs.names(CPUS) if re.fullmatch(r"cpu\d+", name)]
        packages: dict[int | None, str] = {}  # the count of a package stands at each of its CPUs: one of them is read
        for cpu in cpus:
            packages.setdefault(sysfs.number(f"{CPUS}/{cpu}/topology/physical_package_id"), cpu)
        throttles = [f"{CPUS}/{cpu}/thermal_throttle/core_throttle_count" for cpu in cpus]
        throttles += [f"{CPUS}/{cpu}/thermal_throttle/package_throttle_count" for cpu in packages.values()]
        self._throttles = _readable(throttles)
        self._speeds = _readable(f"{CPUS}/{cpu}/cpufreq/scaling_cur_freq" for cpu in cpus)
        self._temperatures = _readable(_temperatures())

    def read(self) -> dict[str, float]:
        """Read all sensors; unreadable ones have no key."""
        readings: dict[str, float] = {}
        if speeds := [value / KHZ for value in _numbers(self._speeds)] or _megahertz():
            readings["mhz"] = fsum(speeds) / len(speeds)  # the import of statistics.fmean takes longer than all else
        if throttles := _numbers(self._throttles):
            readings["throttles"] = sum(throttles)
        if temperatures := _numbers(self._temperatures):
            readings["celsius"] = max(temperatures) / MILLI
        return readings


def _temperatures() -> Iterator[str]:
    for zone in sysfs.names(ZONES):
        if (sysfs.text(f"{ZONES}/{zone}/type") or "").startswith(ZONE_TYPES):
            yield f"{ZONES}/{zone}/temp"
    for monitor in sysfs.names(MONITORS):
        if sysfs.text(f"{MONITORS}/{monitor}/name") in MONITOR_NAMES:
            names = sysfs.names(f"{MONITORS}/{monitor}")
            yield from (f"{MONITORS}/{monitor}/{name}" for name in names if re.fullmatch(r"temp\d+_input", name))


def _megahertz() -> list[float]:
    return [float(mhz) for mhz in re.findall(r"^cpu MHz\s*: ([\d.]+)$", sysfs.text("proc/cpuinfo") or "", re.MULTILINE)]


def _readable(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if sysfs.number(path) is not None]


def _numbers(paths: Iterable[str]) -> list[int]:
    return [value for path in paths if (value := sysfs.number(path)) is not None]


# Energy of the processors (RAPL): each package has a counter that begins again every some minutes.

POWERCAP = "sys/class/powercap"


class EnergyMeter:
    """Energy of all packages since the first reading; nothing where they are not there, or root's alone."""

    def __init__(self) -> None:
        folders = [f"{POWERCAP}/{zone}" for zone in sysfs.names(POWERCAP) if re.fullmatch(r"intel-rapl:\d+", zone)]
        packages = [folder for folder in folders if (sysfs.text(f"{folder}/name") or "").startswith("package")]
        self._last = {
            folder: value for folder in packages if (value := sysfs.number(f"{folder}/energy_uj")) is not None
        }
        self._ranges = {folder: (sysfs.number(f"{folder}/max_energy_range_uj") or 0) + 1 for folder in self._last}
        self._joules = 0.0

    def read(self) -> dict[str, float]:
        for folder, before in self._last.items():
            after = sysfs.number(f"{folder}/energy_uj")
            if after is None:
                return {}
            self._joules += ((after - before) % self._ranges[folder]) / 1e6
            self._last[folder] = after
        return {"joules": round(self._joules, 6)} if self._last else {}
