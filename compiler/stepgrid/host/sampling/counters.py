"""What the kernel counts for the whole host: processors, memory, pressure and block devices, by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from stepgrid.host import sysfs

TICK = os.sysconf("SC_CLK_TCK")
KIB, PAGE = 1024, os.sysconf("SC_PAGESIZE")
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
PAGING = {
    "pgpgin": ("read", KIB),
    "pgpgout": ("written", KIB),
    "pswpin": ("swapped_in", PAGE),
    "pswpout": ("swapped_out", PAGE),
}
PRESSURE = ("cpu", "io", "memory")


def host(device: str | None, devices: Iterable[str]) -> dict[str, Any]:
    """Cumulative counters, and the gauges of memory and of tasks; what cannot be read has no key."""
    sample: dict[str, Any] = {**_stat(), **_memory(), **_paging(), **_pressure()}
    found = {name: values for name in devices if (values := _device(name))}
    if found:
        sample["devices"] = found
    return {**sample, "device": device} if device in found else sample


def _stat() -> dict[str, Any]:
    sample: dict[str, Any] = {}
    for line in (sysfs.text("proc/stat") or "").splitlines():
        name, _, rest = line.partition(" ")
        if name == "cpu":
            sample["cpu"] = {kind: int(ticks) / TICK for kind, ticks in zip(CPU, rest.split(), strict=False)}
        elif name in STAT:
            sample[STAT[name]] = int(rest.partition(" ")[0])
    return sample


def _memory() -> dict[str, Any]:
    pairs = re.findall(r"^(\w+):\s*(\d+) kB", sysfs.text("proc/meminfo") or "", re.MULTILINE)
    found = {MEMORY[name]: int(kib) * 1024 for name, kib in pairs if name in MEMORY}
    return {"memory": found} if found else {}


def _paging() -> dict[str, Any]:
    """Bytes since boot: read and written by block devices, and of them what went to and came from swap."""
    pairs = re.findall(r"^(pgpg\w+|pswp\w+) (\d+)$", sysfs.text("proc/vmstat") or "", re.MULTILINE)
    known = {PAGING[name]: int(count) for name, count in pairs if name in PAGING}
    found = {name: count * unit for (name, unit), count in known.items()}
    return {"paging": found} if found else {}


def _pressure() -> dict[str, Any]:
    """Microseconds in which some task waited for it."""
    found = {}
    for name in PRESSURE:
        total = re.search(r"^some .*\btotal=(\d+)", sysfs.text(f"proc/pressure/{name}") or "", re.MULTILINE)
        if total:
            found[name] = int(total[1])
    return {"pressure": found} if found else {}


def _device(name: str) -> dict[str, int]:
    words = (sysfs.text(f"sys/class/block/{name}/stat") or "").split()
    return {key: int(word) for key, word in zip(DEVICE, words, strict=False)}
