"""What the kernel counts for the whole host: processors, memory, pressure and block devices, by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from compiler.run import sysfs

TICK = os.sysconf("SC_CLK_TCK")
CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")  # the order of proc(5)
# the order of the kernel's iostats.rst; older kernels end earlier
DEVICE = (
    *("reads", "read_merges", "read_sectors", "read_ms"),
    *("writes", "write_merges", "write_sectors", "write_ms"),
    *("in_flight", "busy_ms", "queue_ms"),
    *("discards", "discard_merges", "discard_sectors", "discard_ms", "flushes", "flush_ms"),
)
MEMORY = {"MemAvailable": "available", "Cached": "cached", "Dirty": "dirty", "Writeback": "writeback"}
PRESSURE = ("cpu", "io", "memory")


def host(device: str | None, devices: Iterable[str]) -> dict[str, Any]:
    """Cumulative counters, and the gauges of memory; what cannot be read has no key."""
    sample: dict[str, Any] = {**_stat(), **_memory(), **_pressure()}
    found = {name: values for name in devices if (values := _device(name))}
    if found:
        sample["devices"] = found
    return {**sample, "device": device} if device in found else sample


def _stat() -> dict[str, Any]:
    sample: dict[str, Any] = {}
    for line in (sysfs.text("proc/stat") or "").splitlines():
        if line.startswith("cpu "):
            sample["cpu"] = {name: int(ticks) / TICK for name, ticks in zip(CPU, line.split()[1:], strict=False)}
        elif line.startswith("ctxt "):
            sample["switches"] = int(line.split()[1])
    return sample


def _memory() -> dict[str, Any]:
    pairs = re.findall(r"^(\w+):\s*(\d+) kB", sysfs.text("proc/meminfo") or "", re.MULTILINE)
    found = {MEMORY[name]: int(kib) * 1024 for name, kib in pairs if name in MEMORY}
    return {"memory": found} if found else {}


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
